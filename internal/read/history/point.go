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

// Point is a point in the history of a log: after a record, at a time, or after a record with a given later time. The
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

// ErrNoJob is returned if the log has no record of the Job up to the point that was asked for.
var ErrNoJob = errors.New("the log knows no such Job")

// JobAt returns the state of a Job as of a point. It folds only the records of the Job and of the controller, so its
// cost does not grow with the log. If the log is damaged, JobAt returns the error, and what is known of the Job in
// spite of it (see Watch).
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

// A Watcher is called before and after each record that Watch folds.
type Watcher interface {
	Before(f *Fold, r *events.Record)
	After(f *Fold, r *events.Record)
}

// Watched is the result of Watch: a Job as of a point, and the Watcher that saw the records from which its state
// follows.
type Watched[W Watcher] struct {
	Job     Job
	Watcher W
	Resumed events.Sequence // after damage: the record at which the fold began anew; 0 if it read from the start
	Cut     bool            // damage hides later records: the Job is as of the last record before the damage
}

// Watch is JobAt with a Watcher. If damage ends where a file of the log ends, Watch starts the fold again with the next
// file, since each file can be read alone. It then calls begin for a new Watcher. If the later files say less about a
// Job that was over before the damage, Watch returns the state from before the damage.
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

// saysLess reports whether before tells how the Job ended, while behind, which was folded after damage, does not.
func saysLess(behind, before *Job) bool {
	known := before.State == StateComplete || before.State == StateFailed || before.State == StateDeleted
	return known && (behind.State == StateUnseen || behind.State == StateFinished)
}

type nobody struct{}

func (nobody) Before(*Fold, *events.Record) {}
func (nobody) After(*Fold, *events.Record)  {}

// jobFrom folds the records from sequence from on. If the error is store.ErrCorrupt, the state up to the damage may be
// returned with it.
func jobFrom(ctx context.Context, src Source, s events.Stream, from events.Sequence, at Point, view Moment, w Watcher) (Job, error) {
	asOf, now := events.Sequence(view.Sequence), events.Time(view.Time)
	fold := NewFold()
	var last events.Record
	var failed error
	var watched Gaps
	for r, err := range OfJob(ctx, src, s, from) {
		if at.Sequence != 0 && place(&r, err) > at.Sequence {
			break // also if r is damaged: the damage lies after the point
		}
		if last.Sequence != 0 && src.Beside(err) {
			failed, asOf = err, last.Sequence
			break
		}
		if err != nil {
			return Job{}, err // err names what could not be read
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

// readable returns an error if only a newer version of this program can fold the record.
func readable(r *events.Record) error {
	if err := projector.Readable(r); err != nil {
		return fmt.Errorf("fold record %d: %w", r.Sequence, err)
	}
	return nil
}

// OfJob returns the records of a Job and of the controller from sequence from on, in log order. The Job's state and
// decisions follow from them alone, except that a spec may be stored in another Job's stream (Learn). OfJob ends after
// the first error.
func OfJob(ctx context.Context, src Source, s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
	return merged(src.ReadStream(ctx, events.Controller, from, store.Forward), src.ReadStream(ctx, s, from, store.Forward))
}

// LearnFrom is Learn that reads specs from src.
func LearnFrom(ctx context.Context, src Source, w *projector.World, r *events.Record) error {
	return Learn(w, r, func(at events.Sequence) (events.Record, error) { return Record(ctx, src, at) })
}

// Values of Job.Clock and CronJob.Clock, for an answer about the present.
const (
	ClockController = "controller" // the clock of the running controller
	ClockLog        = "log"        // no controller runs: the time of the newest record
)

// Moment is the record and the time of an answer.
type Moment struct {
	Place
	Clock      string             // for an answer about the present: ClockController or ClockLog
	LastRecord recordjson.Instant // time of the newest record, if Clock is ClockController
}

// settle returns the record and the time for a point. If the point is a time, the sequence is 0: the caller folds all
// records up to that time.
func settle(ctx context.Context, src Source, at Point) (m Moment, err error) {
	_, head, err := src.Head(ctx)
	switch {
	case err != nil:
		return m, err
	case at.Sequence > head.Sequence:
		return m, fmt.Errorf("there is no record %d: the log ends with record %d", at.Sequence, head.Sequence)
	case at.Sequence != 0:
		r, err := Record(ctx, src, at.Sequence)
		// src shows only a part of the log (package permit), without this record: use the time of the record before.
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
	case at.Time != 0 && at.Time < now: // between the newest record and the present
		m.Time, m.Clock = recordjson.Instant(at.Time), ""
	default:
		m.Time, m.Clock, m.LastRecord = recordjson.Instant(max(now, head.Time)), ClockController, recordjson.Instant(head.Time)
	}
	return m, err
}

// place returns the sequence of r, or of the damage if err is damage; 0 for other errors.
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
