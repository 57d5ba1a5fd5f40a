package history

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Point is a point in the history of a log: after a record, or at a time, or at a time after a record. The zero Point
// is the end: now, where a controller writes the log.
type Point struct {
	Sequence events.Sequence
	Time     events.Time
}

// passed reports whether a record lies after the point.
func (p Point) passed(r *events.Record) bool {
	if p.Sequence != 0 {
		return r.Sequence > p.Sequence
	}
	return p.Time != 0 && r.Time > p.Time
}

// ErrNoJob: the log has no records of the Job, or none up to that point.
var ErrNoJob = errors.New("the log knows no such Job")

// JobAt is the state of a Job as of a point. It folds the records of the Job's stream and of the controller's, which
// together are all that the Job's state depends on, so its cost is that of the Job's history and not of the log. Where
// the log is damaged, it gives with the error what can be told of the Job: see Watch.
func JobAt(ctx context.Context, src Source, s events.Stream, at Point) (Job, error) {
	w, err := Watch(ctx, src, s, at, func() nobody { return nobody{} })
	if w.Job.UID == "" || err != nil && !src.Beside(err) {
		return w.Job, err
	}
	passed, unread := PassedAt(ctx, src, w.Job.AsOf, w.Job.Namespace, false)
	w.Job.PassedOver = passed
	if err == nil {
		err = unread
	}
	return w.Job, err
}

// A Watcher is shown each record that JobAt folds, before and after.
type Watcher interface {
	Before(f *Fold, r *events.Record)
	After(f *Fold, r *events.Record)
}

// Watched is a Job as of a point, and who was shown the records that it was folded from.
type Watched[W Watcher] struct {
	Job     Job
	Watcher W
	Resumed events.Sequence // the fold began anew with this record, behind damage; 0 when it began at the beginning
	Cut     bool            // damage hides what came of the Job: it is told as of the last record before that
}

// Watch is JobAt, and shows a watcher what is folded. Each file of a log stands alone, so behind damage that is known
// to end with a file the fold begins anew with the next one, and with a new watcher. A Job of which nothing is told
// there, because it was over, stays as it was before the damage.
func Watch[W Watcher](ctx context.Context, src Source, s events.Stream, at Point, begin func() W) (out Watched[W], err error) {
	view, err := settle(ctx, src, at)
	if err != nil {
		return out, err
	}
	var damage error
	for from := events.Sequence(0); ; {
		w := begin()
		job, err := jobFrom(ctx, src, s, from, at, view, w)
		if job.UID != "" && !saysLess(&job, &out.Job) {
			out = Watched[W]{Job: job, Watcher: w, Resumed: from}
		}
		out.Cut = out.Cut || src.Beside(err)
		var bad *store.CorruptError
		if errors.As(err, &bad) && bad.Next > from {
			from, damage = bad.Next, errors.Join(damage, err)
			continue
		}
		if damage != nil && (err == nil || errors.Is(err, ErrNoJob)) {
			err = damage
		}
		return out, err
	}
}

// saysLess reports whether a Job behind damage is known only from records that follow its end, and how it ended was
// told before.
func saysLess(behind, before *Job) bool {
	known := before.State == StateComplete || before.State == StateFailed || before.State == StateDeleted
	return known && (behind.State == StateUnseen || behind.State == StateFinished)
}

type nobody struct{}

func (nobody) Before(*Fold, *events.Record) {}
func (nobody) After(*Fold, *events.Record)  {}

// jobFrom folds the records from that sequence on. With an error that is ErrCorrupt it may give a state too.
func jobFrom(ctx context.Context, src Source, s events.Stream, from events.Sequence, at Point, view Moment, w Watcher) (Job, error) {
	asOf, now := events.Sequence(view.Sequence), events.Time(view.Time)
	fold := NewFold()
	var last events.Record
	var failed error
	var watched Gaps
	for r, err := range OfJob(ctx, src, s, from) {
		if at.Sequence != 0 && place(&r, err) > at.Sequence {
			break // also of damage that lies behind the point
		}
		if last.Sequence != 0 && src.Beside(err) {
			failed, asOf = err, last.Sequence
			break
		}
		if err != nil {
			return Job{}, err // it says what was read
		}
		if at.passed(&r) || (asOf != 0 && r.Sequence > asOf) {
			break
		}
		if err := readable(&r); err != nil {
			return Job{}, err
		}
		if err := LearnFrom(ctx, src, fold.World(), &r); err != nil {
			return Job{}, err
		}
		w.Before(fold, &r)
		fold.Apply(&r)
		w.After(fold, &r)
		if r.Stream == events.Controller {
			watched.Learn(&r)
		}
		last = r
	}
	account := fold.Account(s)
	if account == nil && failed != nil {
		return Job{}, failed
	}
	if account == nil {
		return Job{}, fmt.Errorf("%s: %w", s, ErrNoJob)
	}
	if asOf == 0 {
		asOf = last.Sequence
	}
	if failed != nil {
		now, view = last.Time, Moment{}
	}
	job := JobOf(fold, account, asOf, max(now, account.LastAt))
	job.Clock, job.LastRecord = view.Clock, view.LastRecord
	if at.Time != 0 && at.Sequence == 0 && failed == nil {
		job.Gap, failed = gapAt(ctx, src, &watched, last.Sequence+1, at.Time)
	}
	return job, failed
}

// readable is ErrNewer for a record that only a newer program can fold.
func readable(r *events.Record) error {
	if err := projector.Readable(r); err != nil {
		return fmt.Errorf("fold record %d: %w", r.Sequence, err)
	}
	return nil
}

// OfJob gives the records of a Job's stream and of the controller's from one on, in the order of the log: all that its
// state and the decisions about it depend on, but for specs that other Jobs' streams store. It ends after the first
// error.
func OfJob(ctx context.Context, src Source, s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
	return merged(src.ReadStream(ctx, events.Controller, from, store.Forward), src.ReadStream(ctx, s, from, store.Forward))
}

// LearnFrom is Learn with what the source has.
func LearnFrom(ctx context.Context, src Source, w *projector.World, r *events.Record) error {
	return Learn(w, r, func(at events.Sequence) (events.Record, error) { return Record(ctx, src, at) })
}

// The clocks of an answer that is as of now.
const (
	ClockController = "controller" // of the controller that writes the log
	ClockLog        = "log"        // none runs: now is the time of the newest record
)

// Moment is as of when an answer is. Its JSON changes only by growing.
type Moment struct {
	Place
	Clock      string             // of an answer as of now: ClockController, or ClockLog
	LastRecord recordjson.Instant // the time of the newest record, beside the controller's clock
}

// settle says as of which record and time a point is; the sequence is 0 for the newest record that JobAt meets.
func settle(ctx context.Context, src Source, at Point) (m Moment, err error) {
	_, head, err := src.Head(ctx)
	switch {
	case err != nil:
		return m, err
	case at.Sequence > head.Sequence:
		return m, fmt.Errorf("there is no record %d: the log ends with record %d", at.Sequence, head.Sequence)
	case at.Sequence != 0:
		r, err := Record(ctx, src, at.Sequence)
		if errors.Is(err, ErrNoRecord) { // a source of a part of the log: the time is that of the newest before it
			err = nil
			for x, bad := range src.Records(ctx, Query{From: at.Sequence - min(at.Sequence-1, firstWindow)}) {
				if err = bad; bad != nil || x.Sequence > at.Sequence {
					break
				}
				r = x
			}
		}
		m.Place = Place{uint64(at.Sequence), recordjson.Instant(max(r.Time, at.Time))}
		return m, err
	case at.Time != 0 && at.Time < head.Time:
		m.Time = recordjson.Instant(at.Time)
		return m, nil
	}
	now, err := src.Now(ctx)
	m = Moment{Place: Place{uint64(head.Sequence), recordjson.Instant(head.Time)}, Clock: ClockLog}
	switch {
	case now == 0 || err != nil:
	case at.Time != 0 && at.Time < now: // nothing was recorded since the newest record
		m.Time, m.Clock = recordjson.Instant(at.Time), ""
	default:
		m.Time, m.Clock, m.LastRecord = recordjson.Instant(max(now, head.Time)), ClockController, recordjson.Instant(head.Time)
	}
	return m, err
}

// place is where a record stands in the log, or an error: at the first damaged record, otherwise before all.
func place(r *events.Record, err error) events.Sequence {
	var bad *store.CorruptError
	switch {
	case errors.As(err, &bad):
		return bad.At
	case err != nil:
		return 0
	}
	return r.Sequence
}

// merged gives the records of two streams in the order of the log. It ends after the first error.
func merged(a, b iter.Seq2[events.Record, error]) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		x, errX, okX := nextA()
		y, errY, okY := nextB()
		for okX || okY {
			if okX && (!okY || place(&x, errX) < place(&y, errY)) {
				if !yield(x, errX) || errX != nil {
					return
				}
				x, errX, okX = nextA()
				continue
			}
			if !yield(y, errY) || errY != nil {
				return
			}
			y, errY, okY = nextB()
		}
	}
}
