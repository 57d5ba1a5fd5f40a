package history

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Live keeps Jobs up to date with the records that come. What it has not seen of a Job it reads when a record of the Job comes, so its
// cost is that of the Jobs that change. It is not safe for concurrent use.
type Live struct {
	src   Source
	brief bool
	only  *events.Stream
	folds map[events.Stream]*Fold
}

// LiveJob keeps one Job, for Live.Job.
func LiveJob(src Source, s events.Stream) *Live {
	return &Live{src: src, only: &s, folds: map[events.Stream]*Fold{}}
}

// LiveJobs keeps all Jobs, for Live.Summary.
func LiveJobs(src Source) *Live {
	return &Live{src: src, brief: true, folds: map[events.Stream]*Fold{}}
}

// Take takes the next record. It reports whether a Job may have changed by it.
func (l *Live) Take(ctx context.Context, r *events.Record) (bool, error) {
	if err := projector.Readable(r); err != nil {
		return false, fmt.Errorf("fold record %d: %w", r.Sequence, err)
	}
	if r.Stream == events.Controller {
		for _, f := range l.folds {
			f.Apply(r)
		}
		return len(l.folds) > 0, nil
	}
	if r.Stream.Kind != events.StreamJob || l.only != nil && r.Stream != *l.only {
		return false, nil
	}
	if f := l.folds[r.Stream]; f != nil {
		return true, l.apply(ctx, f, r)
	}
	return true, l.begin(ctx, r.Stream, r.Sequence)
}

// begin folds the records of a Job through that one.
func (l *Live) begin(ctx context.Context, s events.Stream, through events.Sequence) error {
	f := NewFold()
	f.Brief = l.brief
	for r, err := range OfJob(ctx, l.src, s, 0) {
		if err != nil {
			return err
		}
		if r.Sequence > through {
			break
		}
		if err := l.apply(ctx, f, &r); err != nil {
			return err
		}
	}
	l.folds[s] = f
	return nil
}

func (l *Live) apply(ctx context.Context, f *Fold, r *events.Record) error {
	if err := projector.Readable(r); err != nil {
		return fmt.Errorf("fold record %d: %w", r.Sequence, err)
	}
	if err := LearnFrom(ctx, l.src, f.World(), r); err != nil {
		return err
	}
	f.Apply(r)
	return nil
}

// Job is the state of a Job after a record, the newest that was taken; not ok before the first record of the Job.
func (l *Live) Job(s events.Stream, after *events.Record) (Job, bool) {
	f := l.folds[s]
	if f == nil || f.Account(s) == nil {
		return Job{}, false
	}
	return JobOf(f, f.Account(s), after.Sequence, max(after.Time, f.Account(s).LastAt)), true
}

// Summary sums up a Job of which a record was taken. What is over is then forgotten.
func (l *Live) Summary(s events.Stream) (Summary, bool) {
	f := l.folds[s]
	if f == nil || f.Account(s) == nil {
		return Summary{}, false
	}
	if a := f.Account(s); f.World().Job(s) == nil {
		delete(l.folds, s)
		return SummaryOf(a), true
	}
	return SummaryOf(f.Account(s)), true
}
