package cloning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/beside"
	"github.com/jobledger/jobledger/store"
)

// Source is a log as it was at one moment, open for reading. Done releases it.
type Source struct {
	Name  string // how messages call the log
	LogID string
	Files []store.SharedFile // descriptions without contents, oldest first; all but the last are sealed

	// returns a function that writes the bytes of the sealed (complete) file that begins with record first
	File func(first events.Sequence) store.Fetch
	Tail func(context.Context) iter.Seq2[[]byte, error] // the records of the last file, at least through its End
	Has  []store.Head                                   // last records of the log, as other processes reported them
	// reports whether err means that the source's files changed while they were read
	Gone func(err error) bool
	Done func() error // releases the source
}

// Head returns the last record of the source. A clone has at least the records through it.
func (s *Source) Head() store.Head { return s.Files[len(s.Files)-1].End }

// errNoRecords is returned if the log has no record yet.
var errNoRecords = errors.New("the log has no record yet: there is nothing to clone")

// OfDirectory opens the log in a directory. live is the controller that writes it; nil if no process writes it.
func OfDirectory(ctx context.Context, dir string, live beside.Live) (_ *Source, err error) {
	log, err := beside.Open(ctx, dir, live)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, log.Close())
		}
	}()
	if log.Head.Sequence == 0 {
		return nil, errNoRecords
	}
	s := &Source{
		Name: dir, LogID: log.Identity.LogID, Has: []store.Head{log.Head}, Done: log.Close,
		Gone: func(err error) bool { return errors.Is(err, fs.ErrNotExist) }, // a file that is gone was pruned
	}
	for _, first := range log.Firsts[:len(log.Firsts)-1] {
		f, err := sealed(log, first)
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, f)
	}
	last := log.Last()
	s.Files = append(s.Files, store.SharedFile{
		First: last, Before: log.Tail.Before, End: log.Head, Begin: log.Tail.Begin, Term: log.Tail.Term, Offsets: log.Offsets,
	})
	s.File = func(first events.Sequence) store.Fetch {
		return func(_ context.Context, to io.Writer) error { return content(log, first, to) }
	}
	s.Tail = func(ctx context.Context) iter.Seq2[[]byte, error] { return log.Stored(ctx, last, log.Head.Sequence) }
	return s, nil
}

// sealed returns the description of a sealed file, without its content.
func sealed(log *beside.Log, first events.Sequence) (f store.SharedFile, err error) {
	s, err := log.File(first)
	if err != nil {
		return f, err
	}
	f = store.SharedFile{First: first, Before: s.Before, End: s.End, Sealed: true, Begin: s.Begin, Term: s.Term}
	_, f.Bytes = s.Content()
	return f, s.Close()
}

// content writes the bytes of a sealed file to to.
func content(log *beside.Log, first events.Sequence, to io.Writer) (err error) {
	s, err := log.File(first)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	bytes, size := s.Content()
	_, err = io.CopyBuffer(struct{ io.Writer }{to}, io.NewSectionReader(bytes, 0, size), make([]byte, 1<<20))
	return err
}

// Step describes one file of the clone.
type Step struct {
	First, Last events.Sequence
	Bytes       int64 // 0 if unknown
	There       bool  // the file was complete already, from a call that ended early
}

// Copy writes the files of s into the new log to, and returns the last record that to then has. It checks each file,
// and calls tell after it. The caller must then verify the new log and end the filling, after which it can be opened as
// a log.
func (s *Source) Copy(ctx context.Context, to store.Filling, tell func(Step)) (head store.Head, err error) {
	if len(s.Files) == 0 {
		return head, errNoRecords
	}
	last := len(s.Files) - 1
	before := s.Files[0].Before
	for _, f := range s.Files[:last] {
		if f.Before != before || !f.Sealed {
			return head, fmt.Errorf("%w: the file of record %d in %s does not continue record %d",
				store.ErrDiverged, f.First, s.Name, before.Sequence)
		}
		there := to.Has(ctx, f.First, f.Before, f.End)
		if !there {
			if err := to.File(ctx, f.First, f.Before, f.End, s.File(f.First)); err != nil {
				return head, fmt.Errorf("copy the file of record %d of %s: %w", f.First, s.Name, err)
			}
		}
		before = f.End
		tell(Step{First: f.First, Last: f.End.Sequence, Bytes: f.Bytes, There: there})
	}
	tail := &s.Files[last]
	if tail.Before != before {
		return head, fmt.Errorf("%w: the newest file of %s does not continue record %d", store.ErrDiverged, s.Name, before.Sequence)
	}
	if head, err = to.Tail(ctx, tail, s.Tail(ctx)); err != nil {
		return head, fmt.Errorf("copy the newest file of %s: %w", s.Name, err)
	}
	tell(Step{First: tail.First, Last: head.Sequence})
	return head, nil
}
