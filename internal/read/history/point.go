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

// Point is a point in the history of a log: after a record, at a time, or at a time after a record. The zero Point is
// now, or the end of the log if no controller runs.
type Point struct {
	Sequence events.Sequence
	Time     events.Time
}

// passed reports whether r lies after the point.
func (p Point) passed(r *events.Record) bool {
	if p.Sequence != 0 {
		return r.Sequence > p.Sequence
	}
	return p.Time != 0 && r.Time > p.Time
}

// ErrNoJob is returned when the log has no record of the Job up to the point.
var ErrNoJob = errors.New("the log knows no such Job")

// JobAt returns the state of a Job as of a point. It folds the records of the Job's stream and of the controller's
// stream: the state depends on nothing else, so the cost does not grow with the log. Where the log is damaged, JobAt
// returns what it can tell of the Job, and the error: see Watch.
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

// Watched is a Job as of a point, and the Watcher that saw the records behind it.
type Watched[W Watcher] struct {
	Job     Job
	Watcher W
	Resumed events.Sequence // first record of the fold, after damage; 0 if the fold began with the log
	Cut     bool            // damage hides later records: the Job is as of the last record before the damage
}

// Watch is JobAt with a Watcher. Each file of a log can be read alone, so after damage that ends with a file, the fold
// starts again with the next file and a new Watcher from begin. A Job that was over before the damage keeps its state
// from before it, if the later files say less.
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

// saysLess reports whether behind, a Job folded after damage, says less than before: before tells how the Job ended,
// and behind does not.
func saysLess(behind, before *Job) bool {
	known := before.State == StateComplete || before.State == StateFailed || before.State == StateDeleted
	return known && (behind.State == StateUnseen || behind.State == StateFinished)
}

type nobody struct{}

func (nobody) Before(*Fold, *events.Record) {}
func (nobody) After(*Fold, *events.Record)  {}

// jobFrom folds the records from sequence from on. With an error that is store.ErrCorrupt, it may also return a state.
func jobFrom(ctx context.Context, src Source, s events.Stream, from events.Sequence, at Point, view Moment, w Watcher) (Job, error) {
	asOf, now := events.Sequence(view.Sequence), events.Time(view.Time)
	fold := NewFold()
	var last events.Record
	var failed error
	var watched Gaps
	for r, err := range OfJob(ctx, src, s, from) {
		if at.Sequence != 0 && place(&r, err) > at.Sequence {
			break // this includes damage after the point
		}
		if last.Sequence != 0 && src.Beside(err) {
			failed, asOf = err, last.Sequence
			break
		}
		if err != nil {
			return Job{}, err // the error says what could not be read
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

// readable returns an error for a record that only a newer program can fold.
func readable(r *events.Record) error {
	if err := projector.Readable(r); err != nil {
		return fmt.Errorf("fold record %d: %w", r.Sequence, err)
	}
	return nil
}

// OfJob returns the records of a Job's stream and of the controller's stream from sequence from on, in log order. The
// Job's state and decisions depend on nothing else, except specs that are stored in other Jobs' streams (see Learn).
// OfJob ends after the first error.
func OfJob(ctx context.Context, src Source, s events.Stream, from events.Sequence) iter.Seq2[events.Record, error] {
	return merged(src.ReadStream(ctx, events.Controller, from, store.Forward), src.ReadStream(ctx, s, from, store.Forward))
}

// LearnFrom is Learn that reads specs from src.
func LearnFrom(ctx context.Context, src Source, w *projector.World, r *events.Record) error {
	return Learn(w, r, func(at events.Sequence) (events.Record, error) { return Record(ctx, src, at) })
}

// Clocks of an answer as of now.
const (
	ClockController = "controller" // the clock of the controller that writes the log
	ClockLog        = "log"        // no controller runs: now is the time of the newest record
)

// Moment is the record and time of an answer. Its JSON changes only by adding fields.
type Moment struct {
	Place
	Clock      string             // for an answer as of now: ClockController or ClockLog
	LastRecord recordjson.Instant // time of the newest record, if Clock is ClockController
}

// settle returns the record and time of a point. The sequence is 0 for the newest record that JobAt folds.
func settle(ctx context.Context, src Source, at Point) (m Moment, err error) {
	_, head, err := src.Head(ctx)
	switch {
	case err != nil:
		return m, err
	case at.Sequence > head.Sequence:
		return m, fmt.Errorf("there is no record %d: the log ends with record %d", at.Sequence, head.Sequence)
	case at.Sequence != 0:
		r, err := Record(ctx, src, at.Sequence)
		// src holds only a part of the log: use the time of the newest record before the point.
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
	case at.Time != 0 && at.Time < now: // no record since that time
		m.Time, m.Clock = recordjson.Instant(at.Time), ""
	default:
		m.Time, m.Clock, m.LastRecord = recordjson.Instant(max(now, head.Time)), ClockController, recordjson.Instant(head.Time)
	}
	return m, err
}

// place returns the sequence of a record, or of the first damaged record of an error; 0 for other errors.
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
