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

// ErrNoCronJob is returned if the log has no record of the CronJob, or none up to the requested point.
var ErrNoCronJob = errors.New("the log knows no such CronJob")

// FindCronJobs returns the streams (records by UID) of all CronJobs that ever had the name, the newest first.
func FindCronJobs(ctx context.Context, src Source, namespace, name string) ([]events.Stream, error) {
	return findKind(ctx, src, namespace, name, events.StreamCronJob)
}

// FindJobs returns the streams (records by UID) of all Jobs that ever had the name, the newest first.
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

// Stated returns the record at which a reader of stream s (one object) must begin, to get the object's state at record
// through (0 for the end). This is the newest checkpoint, a record with the whole state (KindStateStored), at or before
// through. If there is none, it is the oldest record that is not pruned. Each file of the log has a checkpoint, so even
// for a CronJob that is years old, only one file is read. Stated returns 0 if the stream has no record up to through.
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

// statedBefore returns the checkpoint (a record with the whole state) from which to read stream s to record through,
// like Stated. If the log is damaged between the two, it returns the checkpoint for the state just before the damage,
// and the damage as damaged.
func statedBefore(ctx context.Context, src Source, s events.Stream, through events.Sequence) (from events.Sequence, damaged, err error) {
	from, damaged = Stated(ctx, src, s, through)
	var bad *store.CorruptError
	// If damage lies between the checkpoint and through, read up to the record before the damage.
	if errors.As(damaged, &bad) && bad.At > 1 {
		if from, err = Stated(ctx, src, s, bad.At-1); err != nil {
			return 0, nil, damaged
		}
		return from, damaged, nil
	}
	return from, nil, damaged
}

// CronJobAt returns the state of a CronJob as of a point in the log. If the log is damaged before the point, it returns
// the error and, if possible, the state as of the last record before the damage.
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

// noCronJob returns the error for a CronJob of which no state was found: damage, which may hide it, or ErrNoCronJob if
// damage is nil.
func noCronJob(s events.Stream, damage error) error {
	if damage != nil {
		return damage
	}
	return fmt.Errorf("%s: %w", s, ErrNoCronJob)
}

// runsSince updates the states of the Jobs of a deleted CronJob that had not finished at its deletion. What happened to
// them since is only in the records of the Jobs themselves. A Job without records gets the state Unseen.
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
// checkpoint (a record with the whole state) at or before record at. So a reader has the complete state from record at
// on.
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

// foldCron reads the records of a CronJob from sequence from to point at into a Fold; asOf is a last record, 0 for
// none. If a later record is damaged, it returns the state before it, and the damage as unread.
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

// cronGapAt returns the gap (a time in which nobody watched the cluster) that contains time t; nil if the cluster was
// watched then. from is the first record after t.
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

// setNext brings state and open due time up to the time of the answer, and computes the next due time. c is the state
// by the records.
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

// idleState returns the name of a state in which a CronJob has no next due time, such as Suspended; empty for other
// states.
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
