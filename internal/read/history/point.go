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

// Point is the point in a log that an answer describes. With Sequence, the answer counts the records up to and
// including that one; with Time alone, the records up to that time. With both, Sequence alone decides which records
// count: those between it and Time do not. Time is then only the time for which waits and durations are computed. The
// zero Point is the present time, or the end of the log if no controller runs.
type Point struct {
	Sequence events.Sequence
	Time     events.Time
}

// passed reports whether record r lies after the point.
func (p Point) passed(r *events.Record) bool {
	if p.Sequence != 0 {
		return r.Sequence > p.Sequence
	}
	return p.Time != 0 && r.Time > p.Time
}

// ErrNoJob is returned if the log has no record of the Job, or none up to the requested point.
var ErrNoJob = errors.New("the log knows no such Job")

// JobAt returns the state of a Job as of a point in the log. It reads only the records of the Job and of the
// controller, so its cost does not grow with the log. If the log is damaged, JobAt returns the error, and the state by
// the readable records (Watch says which).
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

// A Watcher sees each record from which Watch makes the state of a Job: Before is called with the state before the
// record, After with the state after it.
type Watcher interface {
	Before(f *Fold, r *events.Record)
	After(f *Fold, r *events.Record)
}

// Watched is the result of Watch: the state of a Job as of a point, and the Watcher that saw its records.
type Watched[W Watcher] struct {
	Job     Job
	Watcher W
	Resumed events.Sequence // after damage: the record at which the fold began anew; 0 if it did not
	Cut     bool            // damage hides later records: the state is that of the last record before the damage
}

// Watch returns the state of a Job as of a point, as JobAt does, and shows each record to a Watcher. If a part of the
// log is damaged, Watch starts again with the next file, because each file can be read alone, and calls begin for a new
// Watcher. If the Job was over before the damage and the later files say less about it, Watch returns the state from
// before the damage.
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

// saysLess reports whether the state before the damage tells how the Job ended, while the state behind the damage does
// not.
func saysLess(behind, before *Job) bool {
	known := before.State == StateComplete || before.State == StateFailed || before.State == StateDeleted
	return known && (behind.State == StateUnseen || behind.State == StateFinished)
}

type nobody struct{}

func (nobody) Before(*Fold, *events.Record) {}
func (nobody) After(*Fold, *events.Record)  {}

// jobFrom makes the state of a Job from the records from sequence from on, up to point at. view is the same point as
// record and time. If the error is store.ErrCorrupt, the returned state may be that before the damage.
func jobFrom(ctx context.Context, src Source, s events.Stream, from events.Sequence, at Point, view Moment, w Watcher) (Job, error) {
	asOf, now := events.Sequence(view.Sequence), events.Time(view.Time)
	fold := NewFold()
	var last events.Record
	var failed error
	var watched Gaps
	for r, err := range OfJob(ctx, src, s, from) {
		if at.Sequence != 0 && place(&r, err) > at.Sequence {
			break // r lies after the point; if r is damaged, that does not matter either
		}
		if last.Sequence != 0 && src.Beside(err) {
			failed, asOf = err, last.Sequence
			break
		}
		if err != nil {
			return Job{}, err // no record was read before, or err is not damage: there is no state to return
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

// readable returns an error if the record needs a newer version of this program.
func readable(r *events.Record) error {
	if err := projector.Readable(r); err != nil {
		return fmt.Errorf("fold record %d: %w", r.Sequence, err)
	}
	return nil
}

// OfJob returns the records of a Job and of the controller from sequence from on, in log order. The Job's state follows
// from them alone, except that a spec may be stored with another Job (Learn reads it). OfJob ends after the first
// error.
func OfJob(ctx context.Context, src Source, s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
	return merged(src.ReadStream(ctx, events.Controller, from, store.Forward), src.ReadStream(ctx, s, from, store.Forward))
}

// LearnFrom makes sure that world w knows the spec to which record r refers, like Learn. It reads the spec from src.
func LearnFrom(ctx context.Context, src Source, w *projector.World, r *events.Record) error {
	return Learn(w, r, func(at events.Sequence) (events.Record, error) { return Record(ctx, src, at) })
}

// Values of Job.Clock and CronJob.Clock, for an answer about the present.
const (
	ClockController = "controller" // the clock of the running controller
	ClockLog        = "log"        // no controller runs: the time of the newest record
)

// Moment is the point that an answer describes: a record, a time, and the clock of this time.
type Moment struct {
	Place
	Clock      string             // for an answer about the present: "controller" or "log", the source of the time
	LastRecord recordjson.Instant // time of the newest record, if Clock is ClockController
}

// settle returns the record and the time for a point. If the point is only a time, the sequence is 0: the caller then
// reads all records up to that time.
func settle(ctx context.Context, src Source, at Point) (m Moment, err error) {
	_, head, err := src.Head(ctx)
	switch {
	case err != nil:
		return m, err
	case at.Sequence > head.Sequence:
		return m, fmt.Errorf("there is no record %d: the log ends with record %d", at.Sequence, head.Sequence)
	case at.Sequence != 0:
		r, err := Record(ctx, src, at.Sequence)
		// If src shows only a part of the log (package permit), and record at.Sequence is not in it, use the time of
		// the newest record before.
		if errors.Is(err, ErrNoRecord) {
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
	case at.Time != 0 && at.Time < now: // the wanted time is after the newest record, so that record has the state
		m.Time, m.Clock = recordjson.Instant(at.Time), ""
	default:
		m.Time, m.Clock, m.LastRecord = recordjson.Instant(max(now, head.Time)), ClockController, recordjson.Instant(head.Time)
	}
	return m, err
}

// place returns the sequence of r, or if err is damage of the log, that of the damaged record; 0 for other errors.
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

// merged returns the records of two streams in log order. It ends after the first error.
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
