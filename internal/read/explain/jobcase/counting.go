package jobcase

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/projector"
)

// counters are the counts of a Job. An end counts as soon as it is seen, and for good once a stored status has it. Until
// then the pod's finalizer keeps it: an end whose pod loses the finalizer is lost, and its work is done again.
type counters struct{ succeeded, failed int32 }

func countersOf(j *projector.Job) counters { return counters{j.SucceededCount(), j.FailedCount()} }

// count notes as what tries count after a record of the Job's stream. t is the try that the record is about; nil for none.
func (c *Case) count(r *events.Record, t *try.Try) {
	if c.Folded == nil {
		return
	}
	after := countersOf(c.Folded)
	rose := counters{after.succeeded - c.told.succeeded, after.failed - c.told.failed}
	c.told = after
	c.forget(r, &rose)
	if t != nil {
		c.countTry(r, t, &rose)
	}
	if rose.failed <= 0 && rose.succeeded <= 0 {
		return
	}
	c.countOthers(r, &rose)
	if r.Kind != events.KindJobAdded && r.Kind != events.KindStateStored { // the first status counts what was before
		c.owed.failed += max(rose.failed, 0)
		c.owed.succeeded += max(rose.succeeded, 0)
	}
}

// countOthers finds the tries by which the counts rose, if that is not the one that the record is about.
func (c *Case) countOthers(r *events.Record, rose *counters) {
	for _, t := range c.Tries { // not by a record of the pod: the Job fails, the wait for ends is over, an orphan is adopted
		switch failed, succeeded, _ := c.countsAs(t); {
		case failed && t.Counted != try.CountedFailed && rose.failed > 0:
			c.countFailed(r, t, rose)
		case succeeded && t.Counted != try.CountedSucceeded && rose.succeeded > 0:
			c.countSucceeded(r, t, rose)
		}
	}
	for _, t := range c.Tries { // the status of another controller has an end after all
		switch {
		case t.Uncounted.Record == 0 || t.Counted != try.CountedNot:
		case t.Phase == events.PodSucceeded && rose.succeeded > 0:
			c.countSucceeded(r, t, rose)
		case t.Phase != events.PodSucceeded && rose.failed > 0:
			c.countFailed(r, t, rose)
		}
	}
}

// countsAs is projector.Job.Counts for a try.
func (c *Case) countsAs(t *try.Try) (failed, succeeded, stored bool) {
	p := c.Folded.Pod(t.UID)
	if p == nil {
		return false, false, false
	}
	return c.Folded.Counts(p)
}

// forget drops the tries from c.unlisted that a stored status has. It takes back as what tries counted that no longer
// count, if the counts fell by as many: a pod of a failing Job that succeeds after all, or an end that is lost. If the
// numbers of a status rose before, and no try explains it, they have these ends.
func (c *Case) forget(r *events.Record, rose *counters) {
	var lost []*try.Try
	c.unlisted = slices.DeleteFunc(c.unlisted, func(t *try.Try) bool {
		failed, succeeded, stored := c.countsAs(t)
		if t.Counted == try.CountedFailed && !failed && !stored || t.Counted == try.CountedSucceeded && !succeeded && !stored {
			lost = append(lost, t)
		}
		return stored
	})
	c.takeBack(r, lost, try.CountedFailed, &rose.failed, &c.owed.failed)
	c.takeBack(r, lost, try.CountedSucceeded, &rose.succeeded, &c.owed.succeeded)
}

func (c *Case) takeBack(r *events.Record, lost []*try.Try, as try.Counted, fell, owed *int32) {
	of := slices.DeleteFunc(slices.Clone(lost), func(t *try.Try) bool { return t.Counted != as })
	n := int32(len(of))
	if n == 0 || *fell != -n {
		return
	}
	*fell = 0
	c.unlisted = slices.DeleteFunc(c.unlisted, func(t *try.Try) bool { return slices.Contains(of, t) })
	if *owed >= n {
		*owed -= n
		return
	}
	for _, t := range of {
		t.Counted, t.CountAt, t.Failure = try.CountedNot, explain.Mark{}, 0
		if p := c.Folded.Pod(t.UID); p == nil || !p.Held() {
			t.Uncounted = explain.MarkOf(r)
		}
	}
}

// countTry notes as what a try counts after a record of its pod.
func (c *Case) countTry(r *events.Record, t *try.Try, rose *counters) {
	switch {
	case t.Counted == try.CountedFailed && t.Failure == countersOf(c.Folded).failed:
		c.backoff(r, t) // a later record may have a better time of the end
	case t.Counted != try.CountedNot:
	case rose.failed > 0:
		c.countFailed(r, t, rose)
	case rose.succeeded > 0 && !c.Ours() && c.Settled != nil && c.Settled.Failure && c.AfterVerdict(t):
		// A pod deleted because the Job failed may be a failure even if it ended with success (J-022): ending.Heed reads the
		// other controller's status.
	case rose.succeeded > 0:
		c.countSucceeded(r, t, rose)
	default:
		if p := c.Folded.Pod(t.UID); p != nil && p.Ignored() && t.Over() {
			t.Counted, t.CountAt = try.CountedIgnored, explain.MarkOf(r)
			c.backoff(r, t) // the backoff counts it
		}
	}
}

func (c *Case) countSucceeded(r *events.Record, t *try.Try, rose *counters) {
	rose.succeeded--
	t.Counted, t.CountAt, t.CountOf, t.Uncounted = try.CountedSucceeded, explain.MarkOf(r), t.Index, explain.Mark{}
	c.unlisted = append(c.unlisted, t)
}

func (c *Case) countFailed(r *events.Record, t *try.Try, rose *counters) {
	rose.failed--
	t.Counted, t.CountAt, t.Uncounted = try.CountedFailed, explain.MarkOf(r), explain.Mark{}
	t.Failure = countersOf(c.Folded).failed - rose.failed
	c.unlisted = append(c.unlisted, t)
	c.backoff(r, t)
}

// backoff sets the time until which the next try waits if the failure of t is the Job's newest.
func (c *Case) backoff(r *events.Record, t *try.Try) {
	if until := c.Folded.WaitAfter(c.Folded.Pod(t.UID)); until > r.Time {
		t.Again = until
	}
}
