package historytest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store"
)

// ErrRead is the error of a failed read that may succeed at the next try.
var ErrRead = errors.New("the disk does not answer")

// Failing is a log whose reads fail, for tests: the reads of some records (Bad), or one single read, chosen by the
// place in the program that reads (Where, Nth).
type Failing struct {
	store.Reader
	Bad   func(at events.Sequence) error // returns the error for record at; nil if its read succeeds
	Where string                         // call stack (as place returns it) of the read that fails; empty for none
	Nth   int                            // which of the reads with the call stack Where fails, from 1
	After int                            // how many records this read yields before it fails
	// With returns the error that takes the place of record at. at is 0 at the end of a read, and for a call that reads
	// no record.
	With func(at events.Sequence) error

	Reads  map[string][]*Taken // all reads so far, by call stack
	Failed bool
}

// Taken says how many records one read has yielded, and whether it came to its end.
type Taken struct {
	Records int
	All     bool
}

// place returns the call stack of a read, only with functions of this program: "read/history.Newest:27 <
// read/show.Page:80".
func place() string {
	var pcs [48]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	var calls []string
	for {
		frame, more := frames.Next()
		_, name, ours := strings.Cut(frame.Function, "jobledger/jobledger/internal/")
		if ours && !strings.Contains(name, "historytest") && !strings.Contains(frame.File, "_test.go") {
			calls = append(calls, fmt.Sprintf("%s:%d", name, frame.Line))
		}
		if !more {
			return strings.Join(calls, " < ")
		}
	}
}

// begin adds a new read to Reads, and reports whether this read must fail.
func (f *Failing) begin() (taken *Taken, fails bool) {
	if f.Reads == nil {
		f.Reads = map[string][]*Taken{}
	}
	where := place()
	taken = &Taken{}
	f.Reads[where] = append(f.Reads[where], taken)
	return taken, where == f.Where && len(f.Reads[where]) == f.Nth
}

// single returns the error of a call that reads no record, such as Find; nil if the call must succeed.
func (f *Failing) single() error {
	if _, fails := f.begin(); fails {
		if err := f.With(0); !errors.Is(err, events.ErrNewer) && !errors.Is(err, store.ErrPruned) {
			f.Failed = true
			return err
		}
	}
	return nil
}

func (f *Failing) records(all iter.Seq2[events.Record, error], forward bool) iter.Seq2[events.Record, error] {
	taken, fails := f.begin()
	fail := func(r *events.Record) error {
		if f.Bad != nil && r.Sequence != 0 {
			return f.Bad(r.Sequence)
		}
		if !fails || taken.Records != f.After {
			return nil
		}
		switch err := f.With(r.Sequence); {
		// For a backward read, or before the first record of a read, this is no failure: older records are pruned.
		case errors.Is(err, store.ErrPruned) && (!forward || f.After == 0):
			return nil
		case !errors.Is(err, events.ErrNewer):
			f.Failed = true
			return err
		case r.Sequence != 0: // if there is a record, make it look like that of a newer program
			f.Failed, r.Kind, r.Critical, r.Facts = true, 0xffff, true, &events.Unknown{}
		}
		return nil
	}
	return func(yield func(events.Record, error) bool) {
		for r, err := range all {
			if err == nil {
				err = fail(&r)
			}
			if err != nil {
				yield(events.Record{}, err)
				return
			}
			if taken.Records++; !yield(r, nil) {
				return
			}
		}
		taken.All = true
		if err := fail(&events.Record{}); err != nil {
			yield(events.Record{}, err)
		}
	}
}

// Read implements store.Reader: it returns the records from sequence from on, with the failures that are set.
func (f *Failing) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return f.records(f.Reader.Read(ctx, from), true)
}

// ReadStream implements store.Reader: it returns the records of one stream (one object), with the failures that are
// set.
func (f *Failing) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	return f.records(f.Reader.ReadStream(ctx, s, from, d), d == store.Forward)
}

// Find implements store.Reader: it returns the streams of the objects that had the name, or fails if that is set.
func (f *Failing) Find(namespace, name string) ([]events.Stream, error) {
	if err := f.single(); err != nil {
		return nil, err
	}
	return f.Reader.Find(namespace, name)
}

// Chain implements store.Reader: it returns the hash over the records up to sequence at, or fails if that is set.
func (f *Failing) Chain(at events.Sequence) (events.Hash, error) {
	if err := f.single(); err != nil {
		return events.Hash{}, err
	}
	return f.Reader.Chain(at)
}

// Files returns the function of, which lists the files of the log, with the failures that are set.
func (f *Failing) Files(of func() ([]store.File, error)) func() ([]store.File, error) {
	return func() ([]store.File, error) {
		if err := f.single(); err != nil {
			return nil, err
		}
		return of()
	}
}

// source is a history.Local (it answers from a log in this process) on a failing log. Head and Now can fail, too, as
// they can if another process answers.
type source struct {
	history.Local
	f *Failing
}

// Source returns a history.Source on the failing log. lists may be nil; damage of the log that reads meet is added to
// d.
func (f *Failing) Source(lists history.Lists, d *store.Damage) history.Source {
	return source{history.Local{Log: f, Lists: lists, Damage: d}, f}
}

func (s source) Head(ctx context.Context) (id events.Identity, head store.Head, err error) {
	if err := s.f.single(); err != nil {
		return id, head, err
	}
	return s.Local.Head(ctx)
}

func (s source) Now(ctx context.Context) (events.Time, error) {
	if err := s.f.single(); err != nil {
		return 0, err
	}
	return s.Local.Now(ctx)
}

// Question is one question about a log that EachReadFails asks again and again.
type Question struct {
	Name string
	Ask  func(ctx context.Context, f *Failing, d *store.Damage) (answer string, err error)
	// Noted lists parts of call stacks. If a read from such a place meets damage, the answer may go on without an
	// error: it is enough that the damage is noted for the user.
	Noted []string
	Folds bool // the answer must be an error if a record is of a newer program
}

// failures returns the errors that a read of record at can have: an error that may pass, damage with a known end, a
// pruned file, damage without a known end, and a record of a newer program.
var failures = []func(at events.Sequence) error{
	func(events.Sequence) error { return ErrRead },
	func(at events.Sequence) error { return &store.CorruptError{Path: "a.db", At: at, Next: at + 1} },
	func(events.Sequence) error { return store.ErrPruned },
	func(at events.Sequence) error { return &store.CorruptError{Path: "a.db", At: at} },
	func(events.Sequence) error { return events.ErrNewer },
}

// ways returns how many of the failures are tried: all of them for the first read from a place before its first record,
// and fewer for other reads, to save time.
func (f *Failing) ways() int {
	switch {
	case f.Nth > 1:
		return 1
	case f.After > 0:
		return 3
	}
	return len(failures)
}

// EachReadFails asks each question many times; each time another read of the log fails. It varies the place in the
// program that reads, the first or the last read from there, the failure, and whether the read fails at its beginning,
// midway or at its end. Each answer must be complete or come with an error. If the question lists the place in Noted,
// noted damage is enough. A place is tried once for all questions with the same name. EachReadFails returns how often a
// read failed.
func EachReadFails(t *testing.T, log store.Reader, all ...Question) (n int) {
	t.Helper()
	tried := map[string]bool{}
	for _, q := range all {
		sound := &Failing{Reader: log}
		whole, err := q.Ask(t.Context(), sound, nil)
		if err != nil {
			t.Fatalf("%s: %v", q.Name, err)
		}
		for _, where := range slices.Sorted(maps.Keys(sound.Reads)) {
			for _, f := range fallible(where, sound.Reads[where]) {
				for i, with := range failures[:f.ways()] {
					this := fmt.Sprint(q.Name, where, f.Nth > 1, f.After > 0, f.After == sound.Reads[where][f.Nth-1].Records, i)
					if tried[this] || !q.Folds && errors.Is(with(0), events.ErrNewer) {
						continue
					}
					f := &Failing{Reader: log, Where: where, Nth: f.Nth, After: f.After, With: with}
					q.fails(t, f, whole)
					if f.Failed {
						n, tried[this] = n+1, true
					}
				}
			}
		}
	}
	return n
}

// fallible returns which of the reads from a place are to fail, and after how many records.
func fallible(where string, reads []*Taken) (all []Failing) {
	for _, nth := range slices.Compact([]int{1, len(reads)}) {
		of := reads[nth-1]
		after := []int{0, of.Records / 2}
		if of.All {
			after = append(after, of.Records)
		}
		for _, k := range slices.Compact(after) {
			all = append(all, Failing{Where: where, Nth: nth, After: k})
		}
	}
	return all
}

// fails asks the question while one read fails, and checks the answer. whole is the answer without failures.
func (q *Question) fails(t *testing.T, f *Failing, whole string) {
	t.Helper()
	var d store.Damage
	answer, err := q.Ask(t.Context(), f, &d)
	noted := len(d.Met()) > 0 && slices.ContainsFunc(q.Noted, func(place string) bool { return strings.Contains(f.Where, place) })
	what := fmt.Sprintf("%s: read %d from %s fails after %d records with %v", q.Name, f.Nth, f.Where, f.After, f.With(7))
	told := slices.ContainsFunc([]error{ErrRead, store.ErrCorrupt, store.ErrPruned, events.ErrNewer}, func(is error) bool { return errors.Is(err, is) })
	switch {
	case !f.Failed, told, noted:
	case err != nil:
		t.Errorf("%s, and the error is %v", what, err)
	case answer != whole:
		t.Errorf("%s, and without a word the answer is\n%.2000s\nwant\n%.2000s", what, answer, whole)
	}
}

// Pruned is a log of which the records before First are pruned (deleted).
type Pruned struct {
	store.Reader
	First events.Sequence
}

// Read implements store.Reader: it returns the records from sequence from on, and store.ErrPruned if from is before
// First.
func (p Pruned) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	if from != 0 && from < p.First {
		return func(yield func(events.Record, error) bool) { yield(events.Record{}, store.ErrPruned) }
	}
	return p.Reader.Read(ctx, max(from, p.First))
}

// ReadStream implements store.Reader: it returns the records of one stream (one object), from First on. Backward, it
// ends with store.ErrPruned if there are older ones.
func (p Pruned) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, d store.Direction) iter.Seq2[events.Record, error] {
	if d == store.Forward {
		return p.Reader.ReadStream(ctx, s, max(from, p.First), d)
	}
	return func(yield func(events.Record, error) bool) {
		for r, err := range p.Reader.ReadStream(ctx, s, from, d) {
			if err == nil && r.Sequence < p.First {
				yield(events.Record{}, store.ErrPruned)
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
