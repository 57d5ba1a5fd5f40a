package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/beside"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/copylog"
)

// Config says what to copy, and where to.
type Config struct {
	Dir   string        // directory of the log
	Place copylog.Place // directory or bucket of the copy

	// Live is the controller that writes the log; nil if no process writes it.
	Live beside.Live

	WithKey bool             // also copy the log's key
	DryRun  bool             // write nothing
	Temp    string           // directory for temporary files; empty for the system's
	Writer  string           // version of this program
	Now     func() time.Time // nil for the wall clock

	// Tell is called for each object that is written, or that would be written without DryRun; may be nil.
	Tell func(Step)
}

// Chained is implemented by a controller in this process: it knows the hash of all records through any record at. With
// it, a log that has diverged from the copy is found before anything is written.
type Chained interface {
	Chain(at events.Sequence) (events.Hash, error)
}

// Step describes one object of the copy that was written or deleted.
type Step struct {
	Name    string
	First   events.Sequence // first record; 0 for an object without records
	Last    events.Sequence
	Bytes   int64 // size of the object; for a segment with DryRun, size of its records before compression
	There   bool  // the object existed already, from a run that ended early
	Deleted bool
}

// Result says what one backup copied.
type Result struct {
	Identity events.Identity // identity (ID and epoch) of the log
	Head     store.Head      // last record of the copy, as read back
	Objects  int             // number of objects written; with DryRun, that would be written
	Bytes    int64
	Dropped  events.Sequence // last record of those that the copy had and the log lost; 0 for none
	Holes    []copylog.Hole  // records pruned before they could be copied
}

// AheadError is returned if the copy has records that the log does not have: the log lost its end, or is an older copy.
type AheadError struct {
	Place string
	Copy  copylog.Manifest
	ID    events.Identity // identity (ID and epoch) of the log
	Head  store.Head
}

// Error names the last record of the copy and of the log, and says what to do.
func (e *AheadError) Error() string {
	c := e.Copy
	what := fmt.Sprintf("the copy at %s has record %d (epoch %d, hash %s), and the log ends with record %d of epoch %d: it is an older copy, or its end is lost",
		e.Place, c.Head.Sequence, c.Identity.Epoch, c.Head.Hash, e.Head.Sequence, e.ID.Epoch)
	if c.Identity.Epoch == e.ID.Epoch && c.Head.Sequence <= e.Head.Sequence {
		what = fmt.Sprintf("the copy at %s has another record %d (epoch %d, hash %s) than the log: one of them is of a log that went another way",
			e.Place, c.Head.Sequence, c.Identity.Epoch, c.Head.Hash)
	}
	return what + "; nothing was written there. See 'After records are lost' in docs/troubleshooting.md, or give this log another place"
}

// Loss returns the copy's last record as proof that the log lost records.
func (e *AheadError) Loss() events.Loss {
	c := &e.Copy
	return events.Loss{Witness: events.WitnessCopy, Epoch: c.Identity.Epoch, Sequence: c.Head.Sequence, Hash: c.Head.Hash}
}

// run is the state of one backup. The function Run makes one for each call; a Session keeps one for many passes.
type run struct {
	*Config
	ctx      context.Context
	log      *beside.Log
	was      *copylog.Manifest               // the manifest (list of objects) that the copy had; nil for a new copy
	next     *copylog.Manifest               // the manifest to write next
	raw      []byte                          // the bytes of was, the manifest that the copy had
	tag      string                          // version tag of the current manifest in the destination
	seen     map[events.Sequence]events.Hash // cached hashes of all records through certain records of the newest file
	known    map[events.Sequence]bool        // first records of the log files that were compared with the copy's
	resident bool                            // the run belongs to a Session, which copies again and again
	tidied   bool                            // leftovers of earlier runs were removed
	put      bool                            // something was written that the manifest does not name yet
	result   Result
}

func (c *Config) defaults() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Tell == nil {
		c.Tell = func(Step) {}
	}
}

// mostTries limits how often a run starts again. It does so if another process wrote the manifest (the list of the
// copy's objects), or if the controller began a new file.
const mostTries = 5

// Run copies all records of the log that the copy lacks. It returns an AheadError if the copy has records that the log
// does not have.
func Run(ctx context.Context, config *Config) (Result, error) {
	config.defaults()
	for try := 1; ; try++ {
		r := &run{Config: config, ctx: ctx}
		err := r.all()
		if errors.Is(err, copylog.ErrChanged) && try < mostTries {
			continue
		}
		return r.result, err
	}
}

func (r *run) all() (err error) {
	if err := r.found(); err != nil {
		return err
	}
	if r.log, err = beside.Open(r.ctx, r.Dir, r.Live); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.log.Close()) }()
	if r.result.Identity = r.log.Identity; r.log.Head.Sequence == 0 {
		return errors.New("the log has no record yet: there is nothing to copy")
	}
	if err := r.begin(); err != nil {
		return err
	}
	for _, step := range []func() error{r.files, r.tail, r.derived, r.key, r.finish} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// found reads the copy's manifest, the list of its objects. If there is none, the copy is new.
func (r *run) found() error {
	content, tag, err := copylog.ReadAll(r.ctx, r.Place, copylog.ManifestName, copylog.MostManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the manifest of the copy at %s: %w", r.Place, err)
	}
	if r.was, err = copylog.Decode(content); err != nil {
		return fmt.Errorf("the copy at %s: %w. It is not written over: 'restore --manifest' reads an earlier one (manifests/…); give a new copy another place, "+
			"or put the earlier one in its place", r.Place, err)
	}
	r.tag, r.raw = tag, content
	return nil
}

// begin decides from which record the copy continues. It returns an AheadError if the copy has records that the log
// lacks.
func (r *run) begin() error {
	if r.was == nil {
		r.next = &copylog.Manifest{}
		return nil
	}
	was := r.was
	if was.Identity.LogID != r.log.Identity.LogID {
		return fmt.Errorf("at %s is a copy of log %s, and this is log %s: give each log a place of its own", r.Place, was.Identity.LogID, r.log.Identity.LogID)
	}
	ahead := &AheadError{Place: r.Place.String(), Copy: *was, ID: r.log.Identity, Head: r.log.Head}
	r.next = was.Clone()
	switch {
	case was.Identity.Epoch > r.log.Identity.Epoch:
		return ahead
	case was.Identity.Epoch == r.log.Identity.Epoch:
		if was.Head.Sequence > r.log.Head.Sequence || was.Head.Sequence == r.log.Head.Sequence && was.Head.Hash != r.log.Head.Hash {
			return ahead
		}
		return r.fenced() // if fenced misses a difference, reading the records finds it
	}
	return r.common()
}

// fenced returns an AheadError if the log does not continue after the copy's last record. It needs no reading of
// records, but works only if the controller that writes the log is in this process (see Chained).
func (r *run) fenced() error {
	if _, is := r.Live.(Chained); !is {
		return nil
	}
	end := r.next.End()
	if end.Sequence > r.log.Head.Sequence {
		return r.ahead()
	}
	hash, err := r.chain(end.Sequence)
	if errors.Is(err, errPruned) {
		return nil
	}
	if err == nil && hash != end.Hash {
		err = r.ahead()
	}
	return err
}

// finish writes the manifest, the list of the copy's objects, and then reads the copy's last record back to compare it
// with the log's.
func (r *run) finish() error {
	if r.DryRun {
		r.result.Head = r.log.Head
		return nil
	}
	if err := r.tidy(); err != nil {
		return err
	}
	if err := r.name(true); err != nil {
		return err
	}
	head, err := r.readBack()
	if err != nil {
		return fmt.Errorf("read the head of the copy at %s back: %w", r.Place, err)
	}
	if r.result.Head = head; head != r.log.Head {
		return fmt.Errorf("the copy at %s ends with record %d, hash %s, as it is read back, and not with record %d, hash %s", r.Place,
			head.Sequence, head.Hash, r.log.Head.Sequence, r.log.Head.Hash)
	}
	return nil
}
