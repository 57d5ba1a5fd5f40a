package history

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

// Source reads one log: its durable records, and lists of its Jobs. Sequences (record numbers from 1) and errors are as
// for store.Reader.
type Source interface {
	// Head returns the identity of the log and its last durable record.
	Head(ctx context.Context) (events.Identity, store.Head, error)
	// Now returns the time by the clock of the running controller, which may be later than the newest record. It
	// returns 0 if no controller runs.
	Now(ctx context.Context) (events.Time, error)
	// Read returns the records from sequence from on, at least up to the end of the log as of the call. from 0 means
	// the oldest record that is not pruned.
	Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]
	// Follow returns the records from sequence from on, and waits for new ones until ctx ends. The end of ctx is not an
	// error.
	Follow(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]
	// ReadStream returns the records of one stream (one object) from sequence from on, forward or backward, like
	// store.Reader.
	ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error]
	// Find returns the streams (the records of one object) of the Jobs and CronJobs that ever had the name, newest
	// first. If the log is damaged, it returns the error and the streams that it can find.
	Find(ctx context.Context, namespace, name string) ([]events.Stream, error)
	// Records returns the records that query q selects, in log order. It does not read parts of the log that are older
	// or newer than the query.
	Records(ctx context.Context, q Query) iter.Seq2[events.Record, error]
	// Jobs returns a page of summaries of Jobs, the newest Job first. If the log is damaged, it returns the error and
	// the Jobs that it can read.
	Jobs(ctx context.Context, q JobsQuery) (JobsPage, error)
	// CronJobs returns a page of summaries of CronJobs, the newest first. If the log is damaged, it returns the error
	// and the CronJobs that it can read.
	CronJobs(ctx context.Context, q CronJobsQuery) (CronJobsPage, error)
	// Beside reports whether err is damage of the log (store.ErrCorrupt), and notes the damage for the user. A reader
	// that goes on after damage must call it, so that the answer names the damage.
	Beside(err error) bool
	// Close releases the source. A Source only reads, so nothing can be lost.
	Close()
}

// Local is the Source of a log that this process has open. Close does not close the log.
type Local struct {
	Log    store.Reader
	Lists  Lists              // lists of its Jobs and CronJobs; only the methods Jobs and CronJobs need it
	Clock  func() events.Time // clock of the running controller; nil if no controller runs
	Damage *store.Damage      // collects the damage that reads of the log meet; nil to discard it
}

var _ Source = Local{}

// Head implements Source: it returns the identity of the log and its last durable record.
func (l Local) Head(context.Context) (events.Identity, store.Head, error) {
	return l.Log.Identity(), l.Log.Head(), nil
}

// Now implements Source: it returns the time by the controller's clock, or 0 if no controller runs.
func (l Local) Now(context.Context) (events.Time, error) { return l.now(), nil }

func (l Local) now() events.Time {
	if l.Clock == nil {
		return 0
	}
	return l.Clock()
}

// noted returns the log as a reader that adds the damage that it meets to l.Damage.
func (l Local) noted() store.Reader { return store.Noting(l.Log, l.Damage) }

// Beside implements Source: it adds err to l.Damage, and reports whether err is damage of the log.
func (l Local) Beside(err error) bool {
	l.Damage.Note(err)
	return errors.Is(err, store.ErrCorrupt)
}

// Read implements Source: it returns the records from sequence from on, up to the end of the log.
func (l Local) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.noted().Read(ctx, from)
}

// Follow implements Source: it returns the records from sequence from on, and then new ones, until ctx ends.
func (l Local) Follow(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		cursor := follow.Cursor{Log: l.noted(), Next: from, Take: func(ctx context.Context, r *events.Record) error {
			if ctx.Err() == nil && yield(*r, nil) {
				return nil
			}
			return errEnough
		}}
		if err := cursor.Follow(ctx); !errors.Is(err, errEnough) && ctx.Err() == nil {
			yield(events.Record{}, err)
		}
	}
}

// errEnough ends the loop of Follow when the caller wants no more records.
var errEnough = errors.New("no more is wanted")

// ReadStream implements Source: it returns the records of one stream (one object) from sequence from on.
func (l Local) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return l.noted().ReadStream(ctx, s, from, dir)
}

// Find implements Source: it returns the streams of the Jobs and CronJobs that ever had the name, newest first.
func (l Local) Find(_ context.Context, namespace, name string) ([]events.Stream, error) {
	return l.noted().Find(namespace, name)
}

// Close implements Source. It does nothing: whoever opened the log closes it.
func (Local) Close() {}

// PastDamage returns the records of a stream. If a part of the log is damaged, it yields the error with a zero Record,
// and goes on with the next file of the log.
func PastDamage(ctx context.Context, src Source, s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for more := true; more; {
			more = false
			for r, err := range src.ReadStream(ctx, s, from, store.Forward) {
				var bad *store.CorruptError
				if errors.As(err, &bad) && bad.Next > from {
					from, more = bad.Next, true
				}
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// ErrNoRecord is returned if the log has no record with the requested sequence.
var ErrNoRecord = errors.New("there is no such record")

// One returns a Query for the record with sequence at.
func One(at events.Sequence) Query { return Query{From: at, Through: at, Limit: 1} }

// Record reads the record with sequence at. The error is ErrNoRecord if there is none.
func Record(ctx context.Context, src Source, at events.Sequence) (events.Record, error) {
	for r, err := range src.Records(ctx, One(at)) {
		if err != nil {
			return events.Record{}, fmt.Errorf("read record %d: %w", at, err)
		}
		if r.Sequence == at {
			return r, nil
		}
		break
	}
	return events.Record{}, fmt.Errorf("read record %d: %w", at, ErrNoRecord)
}

// nameWithin is how many records of a stream are searched for the name of its Job: one of the first 16 has the name.
const nameWithin = 16

// NamesOf returns the names of objects as a words.Names: it learns them from the records that the caller gives to it,
// and reads earlier records from src if it needs them.
func NamesOf(ctx context.Context, src Source) *words.Names {
	return &words.Names{
		Stream: func(s events.Stream) iter.Seq2[events.Record, error] {
			return src.Records(ctx, Query{Stream: &s, Limit: nameWithin})
		},
		Back: func(s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
			return src.ReadStream(ctx, s, from, store.Backward)
		},
		Record: func(at events.Sequence) (events.Record, error) { return Record(ctx, src, at) },
	}
}

// NowOf returns the present time for an answer: the later of the controller's clock and the time of the newest record.
// If no controller runs, it returns the time of the newest record.
func NowOf(ctx context.Context, src Source) (events.Time, error) {
	_, head, err := src.Head(ctx)
	if err != nil {
		return 0, err
	}
	now, err := src.Now(ctx)
	return max(now, head.Time), err
}
