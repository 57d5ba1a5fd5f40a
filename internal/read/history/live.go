package history

import (
	"context"
	"errors"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Live keeps the states of Jobs, or of CronJobs, up to date with new records: give each to Take. It reads the earlier
// records of an object only when a new record of the object arrives, so the cost grows with the number of objects that
// change. Not safe for concurrent use.
type Live struct {
	src   Source
	kind  events.StreamKind
	brief bool
	only  *events.Stream
	folds map[events.Stream]*Fold
}

// LiveJob returns a Live of one object: a Job (read it with Live.Job) or a CronJob (Live.CronJob).
func LiveJob(src Source, s events.Stream) *Live {
	return &Live{src: src, kind: s.Kind, only: &s, folds: map[events.Stream]*Fold{}}
}

// LiveJobs returns a Live of all Jobs; read them with Live.Summary.
func LiveJobs(src Source) *Live {
	return &Live{src: src, kind: events.StreamJob, brief: true, folds: map[events.Stream]*Fold{}}
}

// LiveCronJobs returns a Live of all CronJobs; read them with Live.CronSummary.
func LiveCronJobs(src Source) *Live {
	return &Live{src: src, kind: events.StreamCronJob, brief: true, folds: map[events.Stream]*Fold{}}
}

// Take processes the next record of the log. It reports whether the record may have changed the state of an object that
// this Live keeps.
func (l *Live) Take(ctx context.Context, r *events.Record) (bool, error) {
	if err := readable(r); err != nil {
		return false, err
	}
	if r.Stream == events.Controller {
		for _, f := range l.folds {
			f.Apply(r)
		}
		return len(l.folds) > 0, nil
	}
	if r.Stream.Kind != l.kind || l.only != nil && r.Stream != *l.only {
		return false, nil
	}
	if f := l.folds[r.Stream]; f != nil {
		return true, l.apply(ctx, f, r)
	}
	return true, l.begin(ctx, r.Stream, r.Sequence)
}

// records returns the records from which the state of the object s follows: its own, and those of the controller. For a
// Job they begin at from; for a CronJob, at a checkpoint before through.
func (l *Live) records(ctx context.Context, s events.Stream, from, through events.Sequence) (iter.Seq2[events.Record, error], error) {
	if s.Kind == events.StreamCronJob {
		return OfCronJob(ctx, l.src, s, through)
	}
	return OfJob(ctx, l.src, s, from), nil
}

// begin reads the earlier records of an object, up to sequence through. If a part of the log is damaged, it begins
// again with the next file of the log, because each file has checkpoints (records with the whole state) and can be read
// alone.
func (l *Live) begin(ctx context.Context, s events.Stream, through events.Sequence) error {
	for from := events.Sequence(0); ; {
		err := l.beginAt(ctx, s, from, through)
		var bad *store.CorruptError
		if !errors.As(err, &bad) || bad.Next <= from || bad.Next > through {
			return err
		}
		l.src.Beside(err)
		from = bad.Next
	}
}

func (l *Live) beginAt(ctx context.Context, s events.Stream, from, through events.Sequence) error {
	f := NewFold()
	f.Brief = l.brief
	records, err := l.records(ctx, s, from, through)
	if err != nil {
		return err
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		if r.Sequence > through {
			break
		}
		if err := readable(&r); err != nil {
			return err
		}
		if err := l.apply(ctx, f, &r); err != nil {
			return err
		}
	}
	l.folds[s] = f
	return nil
}

func (l *Live) apply(ctx context.Context, f *Fold, r *events.Record) error {
	if err := LearnFrom(ctx, l.src, f.World(), r); err != nil {
		return err
	}
	f.Apply(r)
	return nil
}

// Job returns the state of a Job as of record after, the record that was last given to Take. ok is false if Take got no
// record of the Job.
func (l *Live) Job(s events.Stream, after *events.Record) (Job, bool) {
	f := l.folds[s]
	if f == nil || f.Account(s) == nil {
		return Job{}, false
	}
	return JobOf(f, f.Account(s), after.Sequence, max(after.Time, f.Account(s).LastAt)), true
}

// CronJob returns the state of a CronJob as of record after, the record that was last given to Take. ok is false if
// Take got no record of the CronJob.
func (l *Live) CronJob(ctx context.Context, s events.Stream, after *events.Record) (job CronJob, ok bool, err error) {
	f := l.folds[s]
	if f == nil || f.CronAccount(s) == nil {
		return CronJob{}, false, nil
	}
	a := f.CronAccount(s)
	if a.First == 0 {
		if err := firstOf(ctx, l.src, a); err != nil {
			return CronJob{}, false, err
		}
	}
	if err := a.recall(ctx, l.src); err != nil && !l.src.Beside(err) {
		return CronJob{}, false, err
	}
	job = cronJobOf(f, a, after.Sequence, max(after.Time, a.LastAt))
	return job, true, job.setNext(ctx, l.src, a.job)
}

// CronSummary returns the summary of a CronJob without its next due time. ok is false if Take got no record of the
// CronJob.
func (l *Live) CronSummary(s events.Stream) (CronSummary, bool) {
	f := l.folds[s]
	if f == nil || f.CronAccount(s) == nil {
		return CronSummary{}, false
	}
	return CronSummaryOf(f.CronAccount(s)), true
}

// Summary returns the summary of a Job. If the Job is over, its state is then freed. ok is false if Take got no record
// of the Job since.
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
