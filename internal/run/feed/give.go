package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/turns"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/store"
)

const (
	atOnce    = 4
	partBytes = 4 << 20 // size at which an answer with records ends, after the current batch
)

// Config says what a Giver knows about its controller. All fields are optional.
type Config struct {
	Name      string
	Now       func() events.Time // time by the controller's clock; 0 while it has none
	Leads     func() bool        // reports whether this process holds the Lease; nil for a controller that needs none
	Process   func() string      // returns the name under which this process holds or wants the Lease
	NotListed func() string
}

// Giver is an HTTP handler that sends the records of one log. Make it with NewGiver.
type Giver struct {
	config    Config
	turns     *turns.Turns
	log       atomic.Pointer[given] // nil until Open
	followers followers
}

// given is the open log whose records the Giver sends.
type given struct{ store.Shared }

// NewGiver returns a Giver that answers 503 until Open gives it a log.
func NewGiver(config Config) *Giver {
	g := &Giver{config: config, turns: turns.New(turns.Config{All: atOnce, Each: atOnce})}
	g.followers.init()
	return g
}

// Open sets the log whose records are sent. After that log is closed, requests are answered with 503 again.
func (g *Giver) Open(log store.Shared) { g.log.Store(&given{log}) }

// ServeHTTP answers GET requests for HeadPath, RecordsPath and ChainPath.
func (g *Giver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !slices.Contains([]string{HeadPath, RecordsPath, ChainPath}, r.URL.Path) {
		http.Error(w, "a controller answers no question here: ask a reader ('jobledger serve')", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "only GET is answered", http.StatusMethodNotAllowed)
		return
	}
	log := g.log.Load()
	if log == nil {
		fail(w, errNotOpen)
		return
	}
	ask, err := parse(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// A request waits for a record before it takes one of the turns, of which there are few.
	g.followers.await(r.Context(), log, &ask)
	done, err := g.turns.Take(r.Context(), "")
	if err != nil {
		fail(w, err)
		return
	}
	defer done()
	switch r.URL.Path {
	case HeadPath:
		g.giveHead(w, log)
	case ChainPath:
		g.giveChain(w, log, ask.from)
	default:
		g.giveRecords(r.Context(), w, log, ask.from)
	}
}

func (g *Giver) giveRecords(ctx context.Context, w http.ResponseWriter, log *given, from events.Sequence) {
	body, err := g.part(ctx, log, from)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", partType)
	_, _ = w.Write(body) // an error means that the client is gone
}

// asked is a request for records, or for a hash, as parsed from its URL.
type asked struct {
	from     events.Sequence // first wanted record; for ChainPath, the record whose hash is wanted
	follower string          // name of the process that asks; empty for one that will never lead
	wait     bool            // if there is no record to send, wait for one
}

func parse(r *http.Request) (a asked, err error) {
	for name, values := range r.URL.Query() {
		switch value := values[0]; {
		case name == "from" && r.URL.Path == RecordsPath, name == "at" && r.URL.Path == ChainPath:
			if value == "" {
				continue
			}
			n, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return a, fmt.Errorf("%s=%q is no number of a record", name, value)
			}
			a.from = events.Sequence(n)
		case name == followerParameter && r.URL.Path == RecordsPath:
			a.follower = value[:min(len(value), mostName)]
		case name == waitParameter && r.URL.Path == RecordsPath:
			a.wait = true
		default:
			return a, fmt.Errorf("%s: there is no such parameter", name)
		}
	}
	return a, nil
}

// mostName is the length in bytes to which the name of a follower is cut.
const mostName = 256

var errNotOpen = errors.New("the log of this controller is not open yet")

// fail answers with an error: 410 Gone for records that were deleted from the log, 503 with Retry-After while the log
// is not open or the Giver is busy, and 500 for everything else.
func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	switch {
	case errors.Is(err, store.ErrPruned):
		status = http.StatusGone
	case errors.Is(err, errNotOpen), errors.Is(err, turns.ErrBusy), errors.Is(err, store.ErrClosed):
		w.Header().Set("Retry-After", "2")
		status = http.StatusServiceUnavailable
	}
	http.Error(w, err.Error(), status)
}

// head returns the answer for HeadPath: which log this is, and its newest record. files are the log's files, which may
// be listed slightly before that record was written.
func (g *Giver) head(log *given, files []store.File) Head {
	id, at := log.Identity(), log.Head()
	h := Head{
		Name: g.config.Name, Leads: g.config.Leads == nil || g.config.Leads(), Ends: g.ending(), LogID: id.LogID, Epoch: id.Epoch,
		Sequence: at.Sequence, Time: recordjson.Instant(at.Time), First: 1,
	}
	if len(files) > 0 {
		h.First = files[0].First
	}
	if g.config.Process != nil {
		h.Process = g.config.Process()
	}
	if g.config.Now != nil {
		h.Now = recordjson.Instant(g.config.Now())
	}
	if g.config.NotListed != nil {
		h.NotListed = g.config.NotListed()
	}
	return h
}

func (g *Giver) giveHead(w http.ResponseWriter, log *given) {
	files, err := log.Files()
	if err != nil {
		fail(w, err)
		return
	}
	giveJSON(w, g.head(log, files))
}

// giveChain answers with the hash of all records through record at. It answers 410 Gone if that record was deleted or
// does not exist yet.
func (g *Giver) giveChain(w http.ResponseWriter, log *given, at events.Sequence) {
	var hash events.Hash
	err := store.ErrPruned
	if at <= log.Head().Sequence {
		hash, err = log.Chain(at)
	}
	if err != nil {
		fail(w, err)
		return
	}
	giveJSON(w, Place{LogID: log.Identity().LogID, Sequence: at, Hash: hash.String()})
}

func giveJSON(w http.ResponseWriter, answer any) {
	text, err := json.Marshal(answer)
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // an error means that the client is gone
}

// part returns the body of an answer with records, from record from on. It begins with the state of the log (the head),
// which is at least as new as the last record sent.
func (g *Giver) part(ctx context.Context, log *given, from events.Sequence) ([]byte, error) {
	before, err := log.Files()
	if err != nil {
		return nil, err
	}
	var begin []byte
	if from == 0 {
		if from, begin, err = log.beginning(before); err != nil {
			return nil, err
		}
	}
	hash, records, err := log.records(ctx, from)
	if err != nil {
		return nil, err
	}
	// The files are listed again after the reading, so that the list has the file of each record that was read.
	after, err := log.Files()
	if err != nil {
		return nil, err
	}
	begins := map[events.Sequence]bool{}
	for _, f := range append(before, after...) {
		begins[f.First] = true
	}
	text, err := json.Marshal(g.head(log, after))
	if err != nil {
		return nil, err
	}
	body := appendFrame(nil, frameHead, text)
	if begin != nil {
		body = appendFrame(body, frameBegin, begin)
	}
	for i, stored := range records {
		if begins[from+events.Sequence(i)] {
			body = appendFrame(body, frameFile, nil)
		}
		body = appendFrame(body, frameRecord, stored)
	}
	return appendFrame(body, frameEnd, hash[:]), nil
}

// beginning returns the oldest record that the log still has, and the body of a 'B' frame: what a client needs to begin
// the same file.
func (l *given) beginning(files []store.File) (events.Sequence, []byte, error) {
	if len(files) == 0 {
		return 0, nil, errors.New("this log has no files, so it cannot be copied from its beginning")
	}
	first := files[0].First
	file, err := l.Share(first)
	if err != nil {
		return 0, nil, fmt.Errorf("read how the log begins: %w", err)
	}
	return first, append(file.Before.Hash[:], file.Begin...), file.Close()
}

// records returns whole batches, as stored, from record from on, and the hash of all records through the last of them.
// If there are none, the hash is that of the records before from. After a read error it returns the batches read so
// far; if there are none, the error.
func (l *given) records(ctx context.Context, from events.Sequence) (hash events.Hash, whole [][]byte, err error) {
	if from-1 > l.Head().Sequence {
		// If the client has more records than this log, it gets none, and learns why from the head in the answer.
		return hash, nil, nil
	}
	if hash, err = l.Chain(from - 1); err != nil {
		return hash, nil, err
	}
	var open [][]byte // records of the unfinished batch
	bytes, last := 0, hash
	for stored, err := range l.ReadStored(ctx, from) {
		var label events.Label
		if err == nil {
			label, err = events.DecodeLabel(stored)
		}
		if err == nil {
			last, err = last.Next(stored)
		}
		if err != nil && len(whole) > 0 {
			// After an error, the whole batches before it are sent. The client asks for the rest in its next request.
			break
		}
		if err != nil {
			return hash, nil, err
		}
		open, bytes = append(open, stored), bytes+len(stored)
		if !label.Last {
			continue
		}
		whole, open, hash = append(whole, open...), nil, last
		if bytes >= partBytes {
			break
		}
	}
	return hash, whole, l.same(from+events.Sequence(len(whole))-1, hash)
}

// same returns an error if hash is not the hash of all records of this log through record at.
func (l *given) same(at events.Sequence, hash events.Hash) error {
	own, err := l.Chain(at)
	if err == nil && own != hash {
		err = fmt.Errorf("%w: the records up to %d do not give the log's chain value", store.ErrCorrupt, at)
	}
	return err
}
