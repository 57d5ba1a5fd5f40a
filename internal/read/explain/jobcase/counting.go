package jobcase

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/projector"
)

// counters are the numbers of pods that count for a Job as succeeded and failed. A pod counts when its end is seen, and
// for good when a stored status counts it. Until then the tracking finalizer keeps the pod. If the pod loses the
// finalizer earlier, it does not count any more, and its work is done again.
type counters struct{ succeeded, failed int32 }

func countersOf(j *projector.Job) counters { return counters{j.SucceededCount(), j.FailedCount()} }

// count updates what tries (pods) count as, after record r of the Job. t is the try that the record is about; nil for
// none.
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
	// What is left in rose are counted ends that no known pod explains: they are owed. But the first record of a Job
	// and a checkpoint count ends from before the log, which are not owed.
	if r.Kind != events.KindJobAdded && r.Kind != events.KindStateStored {
		c.owed.failed += max(rose.failed, 0)
		c.owed.succeeded += max(rose.succeeded, 0)
	}
}

// countOthers finds the tries (pods) because of which the Job's numbers of failed and succeeded pods rose with record
// r, apart from the try that r is about. rose says by how much they rose; a try that is found takes its part from it.
func (c *Case) countOthers(r *events.Record, rose *counters) {
	// A pod may begin to count with a record that is not about it: if the Job fails, if the wait for the pod's end is
	// over, or if the pod is adopted.
	for _, t := range c.Tries {
		switch failed, succeeded, _ := c.countsAs(t); {
		case failed && t.Counted != try.CountedFailed && rose.failed > 0:
			c.countFailed(r, t, rose)
		case succeeded && t.Counted != try.CountedSucceeded && rose.succeeded > 0:
			c.countSucceeded(r, t, rose)
		}
	}
	// If a pod lost its finalizer before a status counted it (Uncounted), another controller may count it after all.
	for _, t := range c.Tries {
		switch {
		case t.Uncounted.Record == 0 || t.Counted != try.CountedNot:
		case t.Phase == events.PodSucceeded && rose.succeeded > 0:
			c.countSucceeded(r, t, rose)
		case t.Phase != events.PodSucceeded && rose.failed > 0:
			c.countFailed(r, t, rose)
		}
	}
}

// countsAs says what the pod of try t counts as by the folded state: failed or succeeded, and whether a stored status
// counts it.
func (c *Case) countsAs(t *try.Try) (failed, succeeded, stored bool) {
	p := c.Folded.Pod(t.UID)
	if p == nil {
		return false, false, false
	}
	return c.Folded.Counts(p)
}

// forget removes tries (pods) from c.unlisted that a stored status now counts. If the numbers fell, it looks for as
// many tries that no longer count, and makes them uncounted: pods of a failing Job that succeeded after all, or lost
// ends. But if the status had counted ends that no known try explains, these tries explain them and stay counted.
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

// countTry sets what try t (a pod) counts as, after record r of its pod. rose says by how much the Job's numbers of
// failed and succeeded pods rose with r.
func (c *Case) countTry(r *events.Record, t *try.Try, rose *counters) {
	switch {
	case t.Counted == try.CountedFailed && t.Failure == countersOf(c.Folded).failed:
		c.backoff(r, t) // this was the newest failure already: the record may correct the time of its end
	case t.Counted != try.CountedNot:
	case rose.failed > 0:
		c.countFailed(r, t, rose)
	case rose.succeeded > 0 && !c.Ours() && c.Settled != nil && c.Settled.Failure && c.AfterVerdict(t):
		// If the Job of another controller has failed, and this pod was deleted for that, the pod may count as a
		// failure even if it ended with success (J-022). ending.Heed decides this later, by the final status.
	case rose.succeeded > 0:
		c.countSucceeded(r, t, rose)
	default:
		if p := c.Folded.Pod(t.UID); p != nil && p.Ignored() && t.Over() {
			t.Counted, t.CountAt = try.CountedIgnored, explain.MarkOf(r)
			c.backoff(r, t) // a failure that does not count delays the next pod, too
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

// backoff sets the time before which the next try (pod) must not start, if the failure of t is the Job's newest one.
func (c *Case) backoff(r *events.Record, t *try.Try) {
	if until := c.Folded.WaitAfter(c.Folded.Pod(t.UID)); until > r.Time {
		t.Again = until
	}
}
