package serve

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/show"
	"github.com/jobledger/jobledger/store"
)

// Point is a point in the history of a log: after a record, or at a time. The zero Point is the end.
type Point struct {
	Sequence events.Sequence
	Time     events.Time
}

// passed reports whether a record lies after the point.
func (p Point) passed(r *events.Record) bool {
	return (p.Sequence != 0 && r.Sequence > p.Sequence) || (p.Time != 0 && r.Time > p.Time)
}

// ErrNoJob: the log has no records of the Job, or none up to that point.
var ErrNoJob = errors.New("the log knows no such Job")

// JobAt is the state of a Job as of a point. It folds the records of the Job's stream and of the controller's, which
// together are all that the Job's state depends on, so its cost is that of the Job's history and not of the log.
func JobAt(ctx context.Context, src Source, s events.Stream, at Point) (show.Job, error) {
	asOf, now, err := settle(ctx, src, at)
	if err != nil {
		return show.Job{}, err
	}
	fold := show.NewFold()
	specs := map[events.Sequence]bool{}
	var last events.Record
	records := merged(
		src.ReadStream(ctx, events.Controller, 0, store.Forward),
		src.ReadStream(ctx, s, 0, store.Forward))
	for r, err := range records {
		if err != nil {
			return show.Job{}, fmt.Errorf("read %s: %w", s, err)
		}
		if at.passed(&r) || (asOf != 0 && r.Sequence > asOf) {
			break
		}
		if err := spec(ctx, src, fold, specs, &r); err != nil {
			return show.Job{}, err
		}
		fold.Apply(&r)
		last = r
	}
	account := fold.Account(s)
	if account == nil {
		return show.Job{}, fmt.Errorf("%s: %w", s, ErrNoJob)
	}
	if asOf == 0 {
		asOf = last.Sequence
	}
	return show.JobOf(fold, account, asOf, max(now, account.LastAt)), nil
}

// settle says as of which record and time a point is: 0 for the newest record that JobAt meets.
func settle(ctx context.Context, src Source, at Point) (events.Sequence, events.Time, error) {
	_, head, err := src.Head(ctx)
	switch {
	case err != nil:
		return 0, 0, err
	case at.Sequence > head.Sequence:
		return 0, 0, fmt.Errorf("there is no record %d: the log ends with record %d", at.Sequence, head.Sequence)
	case at.Sequence != 0:
		r, err := Record(ctx, src, at.Sequence)
		return at.Sequence, r.Time, err
	case at.Time != 0 && at.Time < head.Time:
		return 0, at.Time, nil
	}
	return head.Sequence, head.Time, nil
}

// spec folds the content of a Job's spec where another Job's stream stores it: equal specs are stored once.
func spec(ctx context.Context, src Source, fold *show.Fold, known map[events.Sequence]bool, r *events.Record) error {
	switch f := r.Facts.(type) {
	case *events.JobSpec:
		known[r.Sequence] = true
	case *events.JobSeen:
		if f.SpecAt == 0 || known[f.SpecAt] {
			return nil
		}
		known[f.SpecAt] = true
		stored, err := Record(ctx, src, f.SpecAt)
		if errors.Is(err, store.ErrPruned) {
			return nil // the stored state of the Job has it
		}
		if err != nil {
			return err
		}
		fold.Store(&stored)
	}
	return nil
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
			if okX && (!okY || errX != nil || x.Sequence < y.Sequence) {
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
