package jobcase

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// takePod applies a record about a pod of the Job.
func (c *Case) takePod(r *events.Record) {
	switch f := r.Facts.(type) {
	case *events.PodSeen:
		c.seePod(r, f)
	case *events.PodGone:
		if t := c.tries[f.UID]; t != nil {
			if t.Gone, t.Moved = explain.MarkOf(r), f.Moved; t.AskedSeen.Record == 0 {
				t.Unrecorded = r.Evidence.PassedOver
			}
			c.Want.failed(t, r)
			if n := len(t.Waits); n > 0 && t.Waits[n-1].Until.Record == 0 {
				t.Waits[n-1].Until = explain.MarkOf(r)
			}
			c.count(r, t)
		}
	}
}

func (c *Case) seePod(r *events.Record, f *events.PodSeen) {
	if told := r.Evidence.Admitted; told != nil {
		c.Admitted, c.AdmittedAt = told, explain.MarkOf(r)
	}
	t := c.tries[f.UID]
	if t == nil {
		t = &try.Try{UID: f.UID, Ordered: c.ordered[f.Ordinal]}
		c.tries[f.UID] = t
		c.Tries = append(c.Tries, t)
	}
	// A pod that was first seen on a node was not compared.
	if r.Kind == events.KindPodAdded && (!f.Scheduled || r.Evidence.Admitted != nil) {
		t.Admitted, t.AdmittedAt = c.Admitted, c.AdmittedAt
	}
	t.See(r, f)
	c.Want.failed(t, r)
	c.count(r, t)
}

// count notes as what a try counts, if the record changed the counts.
func (c *Case) count(r *events.Record, t *try.Try) {
	if c.Folded == nil {
		return
	}
	after := countersOf(c.Folded)
	switch {
	case t.Counted == try.CountedFailed && t.Failure == after.failed: // a later record may have a better time of the end
		c.backoff(r, t)
	case t.Counted != try.CountedNot:
	case after.failed > c.before.failed:
		t.Counted, t.CountAt, t.Failure = try.CountedFailed, explain.MarkOf(r), after.failed
		c.backoff(r, t)
	case after.succeeded > c.before.succeeded && c.Settled != nil && c.Settled.Failure && c.AfterVerdict(t):
		// A pod deleted because the Job failed may be a failure even if it ended with success (J-022): ending.Heed reads the
		// status.
	case after.succeeded > c.before.succeeded:
		t.Counted, t.CountAt = try.CountedSucceeded, explain.MarkOf(r)
	default:
		if p := c.Folded.Pod(t.UID); p != nil && p.Ignored() && t.Over() {
			t.Counted, t.CountAt = try.CountedIgnored, explain.MarkOf(r)
			c.backoff(r, t) // the backoff counts it
		}
	}
}

// countWaited notes that deleted pods count as failures from a record that is not about a pod: the wait for their own
// end is over. It does so only if no other pod can be meant.
func (c *Case) countWaited(r *events.Record) {
	switch r.Kind {
	case events.KindTimerFired, events.KindDecided, events.KindCommandEnded:
	default:
		return
	}
	if c.Folded == nil || !c.Ours() {
		return
	}
	n := countersOf(c.Folded).failed - c.before.failed
	var open []*try.Try
	for _, t := range c.Tries {
		if t.Counted == try.CountedNot && t.AskedSeen.Record != 0 && t.Ended.Record == 0 && t.Gone.Record == 0 {
			open = append(open, t)
		}
	}
	if n <= 0 || int(n) != len(open) {
		return
	}
	for i, t := range open {
		t.Counted, t.CountAt, t.Failure = try.CountedFailed, explain.MarkOf(r), c.before.failed+int32(i)+1
		c.backoff(r, t)
	}
}

// backoff sets the time until which the next try waits if the failure of t is the Job's newest.
func (c *Case) backoff(r *events.Record, t *try.Try) {
	if until := c.Folded.WaitAfter(c.Folded.Pod(t.UID)); until > r.Time {
		t.Again = until
	}
}
