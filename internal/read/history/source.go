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

// Source gives the durable records of one log. Its sequences are those of store.Reader, and so are its errors.
type Source interface {
	// Head is the identity of the log and the end of its durable prefix.
	Head(ctx context.Context) (events.Identity, store.Head, error)
	// Now is the time by the clock of the controller that writes the log, which may be later than the newest record; 0
	// where none runs.
	Now(ctx context.Context) (events.Time, error)
	// Read gives the records from that sequence on, to the head as of the call or later; 0 means the first kept.
	Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]
	// Follow is Read, and goes on with what is appended, until ctx ends: that is no error.
	Follow(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]
	// ReadStream gives the records of one stream, as store.Reader does.
	ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error]
	// Find gives the streams of the Jobs and CronJobs that bore that name, newest first: see FindJobs and FindCronJobs.
	// Where the log is damaged, it gives with the error those that can be found.
	Find(ctx context.Context, namespace, name string) ([]events.Stream, error)
	// Records gives the records that a query wants, in the order of the log. What lies outside of its times is not read.
	Records(ctx context.Context, q Query) iter.Seq2[events.Record, error]
	// Jobs sums up the Jobs that a query wants, a page of them. Where the log is damaged, it gives with the error what can
	// be read.
	Jobs(ctx context.Context, q JobsQuery) (JobsPage, error)
	// CronJobs sums up the CronJobs that a query wants, likewise.
	CronJobs(ctx context.Context, q CronJobsQuery) (CronJobsPage, error)
	// Beside reports whether an error says that the log is damaged, and notes it. A reader that goes on beside what it
	// could not read asks here, so that whoever answers names the damage.
	Beside(err error) bool
	// Close releases the source. It was only read, so nothing can be lost.
	Close()
}

// Local is the source of a log that this process has open. Closing it does not close the log.
type Local struct {
	Log    store.Reader
	Lists  Lists              // of its Jobs; Jobs needs them
	Clock  func() events.Time // of the controller that writes the log; nil where none runs
	Damage *store.Damage      // notes all damage that reads meet, also where they go on beside it; nil for nowhere
}

var _ Source = Local{}

// Head is described by Source.
func (l Local) Head(context.Context) (events.Identity, store.Head, error) {
	return l.Log.Identity(), l.Log.Head(), nil
}

// Now is described by Source.
func (l Local) Now(context.Context) (events.Time, error) { return l.now(), nil }

func (l Local) now() events.Time {
	if l.Clock == nil {
		return 0
	}
	return l.Clock()
}

// noted is the log, whose damage is noted.
func (l Local) noted() store.Reader { return store.Noting(l.Log, l.Damage) }

// Beside is described by Source.
func (l Local) Beside(err error) bool {
	l.Damage.Note(err)
	return errors.Is(err, store.ErrCorrupt)
}

// Read is described by Source.
func (l Local) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.noted().Read(ctx, from)
}

// Follow is described by Source.
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

// errEnough: the caller wants no more records.
var errEnough = errors.New("no more is wanted")

// ReadStream is described by Source.
func (l Local) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return l.noted().ReadStream(ctx, s, from, dir)
}

// Find is described by Source.
func (l Local) Find(_ context.Context, namespace, name string) ([]events.Stream, error) {
	return l.noted().Find(namespace, name)
}

// Close is described by Source.
func (Local) Close() {}

// PastDamage gives the records of a stream, and goes on behind damage with the next file. Between them it gives the
// error, with the zero Record.
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

// ErrNoRecord: the log has no record of that sequence.
var ErrNoRecord = errors.New("there is no such record")

// One asks for one record.
func One(at events.Sequence) Query { return Query{From: at, Through: at, Limit: 1} }

// Record reads one record.
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

// nameWithin is how many records of a stream are looked at for the name of its Job: one of the first has it.
const nameWithin = 16

// NamesOf remembers what records of the source call things, and looks up what was said before the first it is shown.
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

// NowOf is as of when an answer is that is asked for now: by the controller's clock, and where none runs at the end of
// the log.
func NowOf(ctx context.Context, src Source) (events.Time, error) {
	_, head, err := src.Head(ctx)
	if err != nil {
		return 0, err
	}
	now, err := src.Now(ctx)
	return max(now, head.Time), err
}
