package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// ErrNoCronJob is returned if the log has no record of the CronJob up to the point that was asked for.
var ErrNoCronJob = errors.New("the log knows no such CronJob")

// FindCronJobs returns the streams of all CronJobs that ever had the name, newest first.
func FindCronJobs(ctx context.Context, src Source, namespace, name string) ([]events.Stream, error) {
	return findKind(ctx, src, namespace, name, events.StreamCronJob)
}

// FindJobs returns the streams of all Jobs that ever had the name, newest first.
func FindJobs(ctx context.Context, src Source, namespace, name string) ([]events.Stream, error) {
	return findKind(ctx, src, namespace, name, events.StreamJob)
}

func findKind(ctx context.Context, src Source, namespace, name string, kind events.StreamKind) (out []events.Stream, err error) {
	all, err := src.Find(ctx, namespace, name)
	for _, s := range all {
		if s.Kind == kind {
			out = append(out, s)
		}
	}
	return out, err
}

// Stated returns the record at which a fold of stream s must begin, to get the state at record through (0 means at the
// end). It is the newest checkpoint (KindStateStored) at or before through, or else the oldest record that is not
// pruned. Because each file of the log has a checkpoint, even a CronJob that is years old costs the reading of one
// file. Stated returns 0 if the stream has no record up to through.
func Stated(ctx context.Context, src Source, s events.Stream, through events.Sequence) (at events.Sequence, err error) {
	for r, err := range src.ReadStream(ctx, s, through, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			break
		}
		if err != nil {
			return at, err
		}
		at = r.Sequence
		if r.Kind == events.KindStateStored {
			break
		}
	}
	return at, nil
}

// FirstAt returns the first record at or after time t; 0 if all records are older. If the record is damaged, FirstAt
// returns its sequence and an error that is store.ErrCorrupt.
func FirstAt(ctx context.Context, src Source, t events.Time) (events.Sequence, error) {
	for r, err := range src.Records(ctx, Query{Since: t, Limit: 1}) {
		return place(&r, err), err
	}
	return 0, nil
}

// statedBefore is Stated, except that it can go around damage: if the log is damaged between the checkpoint and
// through, it returns the checkpoint for the state just before the damage, and the damage as damaged.
func statedBefore(ctx context.Context, src Source, s events.Stream, through events.Sequence) (from events.Sequence, damaged, err error) {
	from, damaged = Stated(ctx, src, s, through)
	var bad *store.CorruptError
	if errors.As(damaged, &bad) && bad.At > 1 { // the state just before the damage is known
		if from, err = Stated(ctx, src, s, bad.At-1); err != nil {
			return 0, nil, damaged
		}
		return from, damaged, nil
	}
	return from, nil, damaged
}

// CronJobAt returns the state of a CronJob as of a point. If damage of the log hides the point, it returns the error
// and, if possible, the state as of the last record before the damage.
func CronJobAt(ctx context.Context, src Source, s events.Stream, at Point) (job CronJob, err error) {
	view, err := settle(ctx, src, at)
	if err != nil {
		return CronJob{}, err
	}
	asOf, now := events.Sequence(view.Sequence), events.Time(view.Time)
	through := asOf
	if through == 0 && at.Time != 0 {
		if through, err = FirstAt(ctx, src, at.Time); err != nil && !src.Beside(err) {
			return CronJob{}, err
		}
	}
	from, failed, err := statedBefore(ctx, src, s, through)
	if err != nil {
		return CronJob{}, err
	}
	if from == 0 {
		return CronJob{}, noCronJob(s, failed)
	}
	fold, last, unread, err := foldCron(ctx, src, s, from, at, asOf)
	failed = errors.Join(failed, unread)
	if err != nil {
		return CronJob{}, err
	}
	account := fold.CronAccount(s)
	if account == nil {
		return CronJob{}, noCronJob(s, failed)
	}
	if asOf == 0 || failed != nil {
		asOf = last.Sequence
	}
	if failed != nil {
		now, view = last.Time, Moment{}
	}
	unread, err = account.complete(ctx, src)
	failed = errors.Join(failed, unread)
	if err != nil {
		return CronJob{}, err
	}
	job = cronJobOf(fold, account, asOf, max(now, account.LastAt))
	job.Clock, job.LastRecord = view.Clock, view.LastRecord
	if at.Time != 0 && at.Sequence == 0 && failed == nil {
		job.Gap, failed = cronGapAt(ctx, src, last.Sequence+1, at.Time)
	}
	if job.Gone {
		if failed != nil {
			at = Point{Sequence: asOf}
		}
		failed = errors.Join(failed, job.runsSince(ctx, src, at))
	}
	var passed error
	if job.PassedOver, passed = PassedAt(ctx, src, job.AsOf, job.Namespace, false); failed == nil {
		failed = passed
	}
	return job, errors.Join(failed, job.setNext(ctx, src, account.job))
}

// noCronJob returns the error if no state was found: the damage, which may hide the CronJob, or else ErrNoCronJob.
func noCronJob(s events.Stream, damage error) error {
	if damage != nil {
		return damage
	}
	return fmt.Errorf("%s: %w", s, ErrNoCronJob)
}

// runsSince completes the states of Jobs that had not finished when the CronJob was deleted. Later news of them is only
// in the records of the Jobs. A Job without records gets the state Unseen.
func (j *CronJob) runsSince(ctx context.Context, src Source, at Point) (failed error) {
	for i := range j.Runs {
		r := &j.Runs[i]
		if r.State != StateRunning && r.State != StateDeleting {
			continue
		}
		job, err := JobAt(ctx, src, events.JobStream(types.UID(r.UID)), at)
		switch {
		case errors.Is(err, ErrNoJob):
			r.State = StateUnseen
		case err != nil && !src.Beside(err):
			return err
		case job.UID != "":
			r.State, r.Finished = job.State, job.Finished
		}
		if err != nil && !errors.Is(err, ErrNoJob) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// OfCronJob returns the records of a CronJob and of the controller in log order. Each of the two begins with a
// checkpoint at or before record at, so that a fold of them is complete from at on.
func OfCronJob(ctx context.Context, src Source, s events.Stream, at events.Sequence) (iter.Seq2[events.Record, error], error) {
	from, err := Stated(ctx, src, s, at)
	if err != nil {
		return nil, err
	}
	begin, err := Stated(ctx, src, events.Controller, from)
	if err != nil && !src.Beside(err) {
		return nil, err
	}
	return merged(src.ReadStream(ctx, events.Controller, begin, store.Forward), src.ReadStream(ctx, s, from, store.Forward)), nil
}

// foldCron folds the records of a CronJob from sequence from up to a point. If a later record is damaged, it returns
// the fold of the records before it, and the damage as unread.
func foldCron(ctx context.Context, src Source, s events.Stream, from events.Sequence, at Point, asOf events.Sequence) (
	fold *Fold, last events.Record, unread, err error,
) {
	records, err := OfCronJob(ctx, src, s, from)
	if err != nil {
		return nil, last, nil, err
	}
	fold = NewFold()
	for r, err := range records {
		if last.Sequence != 0 && src.Beside(err) {
			return fold, last, err, nil
		}
		if err != nil {
			return fold, last, nil, err
		}
		if at.passed(&r) || asOf != 0 && r.Sequence > asOf {
			break
		}
		if err := readable(&r); err != nil {
			return fold, last, nil, err
		}
		fold.Apply(&r)
		last = r
	}
	return fold, last, nil, nil
}

// cronGapAt returns the gap of the watch that contains time t; nil if the cluster was watched then. from is the first
// record after t.
func cronGapAt(ctx context.Context, src Source, from events.Sequence, t events.Time) (*Gap, error) {
	begin, err := Stated(ctx, src, events.Controller, from-1)
	if err != nil {
		return nil, err
	}
	var g Gaps
	for r, err := range src.ReadStream(ctx, events.Controller, begin, store.Forward) {
		if src.Beside(err) || r.Sequence >= from {
			break
		}
		if err != nil {
			return nil, err
		}
		g.Learn(&r)
	}
	return gapAt(ctx, src, &g, from, t)
}

// setNext updates the state and the open due time to the time of the answer, and computes the next due time.
func (j *CronJob) setNext(ctx context.Context, src Source, c *projector.CronJob) error {
	if c == nil {
		return nil
	}
	var rules ZoneRules
	if err := rules.Find(ctx, src, c.Seen.Zones...); err != nil {
		return err
	}
	timing := TimingOf(&c.Seen)
	if c.Settings.CronJobs && !c.Ledger.Closed {
		p := passing{
			timing: timing, through: c.DueThrough(), deadline: c.Seen.Deadline, managed: !c.Observed(), state: j.State, reason: j.Reason, open: j.Due,
		}
		if !p.managed {
			p.hold = c.Kept()
		}
		if !p.managed && j.Listing {
			var err error
			if _, p.listing, err = RunsNow(ctx, src, events.Sequence(j.AsOf.Sequence)); err != nil {
				return err
			}
		}
		j.State, j.Reason, j.Due = p.at(&rules, events.Time(j.AsOf.Time))
	}
	timing.Anchor = max(timing.Anchor, c.DueAfter())
	due, zone, err := rules.Next(timing, max(events.Time(j.AsOf.Time), timing.Anchor).Go(), 1)
	if err != nil {
		return nil //nolint:nilerr // the state says why it is never due
	}
	if j.Zone = zone.String(); zone != time.UTC {
		j.zone = zone
	}
	if len(due) > 0 && idleState(j.State) == "" {
		j.Next = recordjson.Instant(events.At(due[0]))
	}
	return nil
}

// idleState returns the name of a state in which a CronJob has no next due time, such as Suspended. It is empty for the
// other states.
func idleState(s CronState) string {
	switch s {
	case CronSuspended, CronDeleting, CronDeleted, CronUnseen, CronInvalid:
		return string(s)
	case CronHeld, CronOverdue, CronRunning, CronWaiting:
	}
	return ""
}

// deadline converts startingDeadlineSeconds to a duration. It caps the value, so that the duration does not overflow.
func deadline(seconds int64) time.Duration {
	return time.Duration(min(seconds, int64(1<<33))) * time.Second
}
