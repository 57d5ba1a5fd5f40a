package jobcase

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// Lack is a period in which another controller ran the Job, and the Job had fewer pods than our rules want. The cause
// is unknown to an observer: no object shows, for example, that the API server refused a pod.
type Lack struct {
	From  explain.Mark // when it began, and the record from which this follows
	Until explain.Mark // a pod came, or none was wanted any more; none while it lasts
	Pods  int          // number of missing pods at the beginning
	Cut   bool         // nobody watched any more from Until on
}

// Limits for a Lack, a period with too few pods. Below lackTold (5 s) it is not reported, because the built-in
// controller takes about a second to create a pod. From lackStuck (10 s) on, the Job counts as stuck.
const (
	lackTold  = 5 * time.Second
	lackStuck = 10 * time.Second
)

// wanting finds the periods in which a Job of another controller has fewer pods than our rules want (Lack).
type wanting struct {
	lacks []*Lack
	last  explain.Mark // newest record for which our rules were asked
	wake  events.Time  // next time at which our rules may create pods without a new record; 0 for never

	failedAt events.Time   // when the newest failure of a pod was seen
	failures map[int32]int // number of failures, by index
	most     int           // largest of these numbers
}

// open returns the period with too few pods (Lack) that has not ended; nil if there is none.
func (w *wanting) open() *Lack {
	if n := len(w.lacks); n > 0 && w.lacks[n-1].Until.Record == 0 {
		return w.lacks[n-1]
	}
	return nil
}

// begin starts a period with too few pods (Lack), unless one has started. from is the record from which it follows;
// pods is how many are missing.
func (w *wanting) begin(from explain.Mark, pods int) {
	if w.open() == nil {
		w.lacks = append(w.lacks, &Lack{From: from, Pods: pods})
	}
}

// end ends the current period with too few pods (Lack), at record at. If it was too short to report, it is dropped.
func (w *wanting) end(at explain.Mark) {
	x := w.open()
	switch {
	case x == nil:
	case at.At.Sub(x.From.At) < lackTold:
		w.lacks = w.lacks[:len(w.lacks)-1]
	default:
		x.Until = at
	}
}

// failed counts the failure of try t (a pod), if record r shows it.
func (w *wanting) failed(t *try.Try, r *events.Record) {
	if !t.Failed() || t.End().Record != r.Sequence {
		return
	}
	if w.failures == nil {
		w.failures = map[int32]int{}
	}
	w.failedAt = r.Time
	w.failures[t.Index]++
	w.most = max(w.most, w.failures[t.Index])
}

// mayWaitUntil returns the latest time until which another controller may wait before the next pod, because of
// failures; 0 if it need not wait. It may count from a later end of a pod than we do, but not later than the end was
// seen.
func (w *wanting) mayWaitUntil(j *projector.Job) events.Time {
	n, _ := j.Failures()
	if j.PerIndex {
		n = w.most
	}
	if n == 0 {
		return 0
	}
	return w.failedAt.Add(j.PodBackoff(uint32(n)))
}

// decided updates the period with too few pods (Lack): d is what our rules would do after record r.
func (w *wanting) decided(j *projector.Job, d *reconciler.Decision, r *events.Record) {
	w.last, w.wake = explain.MarkOf(r), d.Wake
	if r.Kind == events.KindPodAdded { // a new pod shows that the controller does create pods, only slowly
		w.end(explain.MarkOf(r))
	}
	switch {
	case !creates(d):
		w.end(explain.MarkOf(r))
	case w.mayWaitUntil(j) > r.Time:
		w.wake = r.Time
	default:
		w.begin(explain.MarkOf(r), lacking(j))
	}
}

// creates reports whether decision d creates a pod.
func creates(d *reconciler.Decision) bool {
	for _, c := range d.Decision.Commands() {
		if c.Traits().Kind == events.CommandCreatePod {
			return true
		}
	}
	return false
}

// lacking returns how many active pods are missing: those that parallelism and completions ask for, less the active
// ones. It is at least 1, because it is called when our rules would create a pod.
func lacking(j *projector.Job) int {
	n := int(Number(j.Spec.Parallelism))
	if !j.WorkQueue {
		n = min(n, int(j.Completions)-int(j.SucceededCount()))
	}
	return max(n-int(j.Tally().Active), 1)
}

// ripe asks our rules what they would do between two records, before time now: at the end of a backoff, or at the Job's
// deadline.
func (c *Case) ripe(j *projector.Job, now events.Time) {
	w := &c.Want
	if w.wake == 0 || w.wake > now {
		return
	}
	d := rules.DecideAt(j, w.wake)
	c.wouldSettle(&d, explain.Mark{At: w.wake}) // the end follows from the time alone, so there is no record to cite
	if at := w.mayWaitUntil(j); creates(&d) && at > w.wake {
		if at > now {
			return
		}
		w.wake, d = at, rules.DecideAt(j, at)
	}
	if creates(&d) {
		w.begin(explain.Mark{Record: w.last.Record, At: w.wake}, lacking(j))
	}
	w.wake = 0
}

// wouldSettle notes how our rules would end the Job, if decision d ends it. by is the record from which this follows.
func (c *Case) wouldSettle(d *reconciler.Decision, by explain.Mark) {
	if s := settlingOf(d.Steps, explain.Mark{}); s != nil && (c.spare == nil || c.spare.Reason != s.Reason) {
		s.Evidence = by
		// If our rules would have ended it for this reason before, cite that record: pods under deletion may have
		// hidden the reason for a moment.
		if first, known := c.spares[s.Reason]; known {
			s.Evidence = first
		}
		if c.spares == nil {
			c.spares = map[string]explain.Mark{}
		}
		c.spares[s.Reason], c.spare = s.Evidence, s
	}
}

// wouldDecide asks our rules about a Job of another controller, after record r: would they end the Job, and does it
// have too few pods? listing says that the listing of the cluster has not ended.
func (c *Case) wouldDecide(r *events.Record, listing bool) {
	j := c.Folded
	if c.Ours() || c.Settled != nil || j == nil || j.Spec == nil || !j.Known() || j.Finished() {
		c.Want.end(explain.MarkOf(r))
		c.Want.wake = 0
		return
	}
	d := rules.DecideAt(j, r.Time)
	c.wouldSettle(&d, explain.MarkOf(r))
	switch {
	case !j.Settings.Judges(j.ManagedBy): // our rules do not apply to this controller
	case listing: // until the listing is complete, the log may lack pods that exist
		c.Want.end(explain.MarkOf(r))
		c.Want.last, c.Want.wake = explain.MarkOf(r), r.Time
	default:
		c.Want.decided(j, &d, r)
	}
}

// Lacks returns the periods with too few pods (Lack) that were watched and are long enough to report.
func (c *Case) Lacks() (told []*Lack) {
	for _, x := range c.Want.lacks {
		for _, part := range c.watched(x) {
			if c.LackUntil(part).Sub(part.From.At) >= lackTold {
				told = append(told, part)
			}
		}
	}
	return told
}

func (c *Case) LackUntil(x *Lack) events.Time {
	if x.Until.Record != 0 {
		return x.Until.At
	}
	return c.End()
}

// watched returns the parts of period x that were watched: a gap (a time in which nobody watched) splits it in two. It
// returns none if the namespace was over its log budget in that time, because pods may have come without a record.
func (c *Case) watched(x *Lack) (parts []*Lack) {
	if len(c.Passed.Touching(c.Job.Namespace, false, x.From.At, c.LackUntil(x))) > 0 {
		return nil
	}
	rest := *x
	for _, g := range c.Touching() {
		from, until := events.Time(g.From), events.Time(g.Until)
		if from == 0 || from >= c.LackUntil(&rest) || until != 0 && until <= rest.From.At {
			continue
		}
		if from > rest.From.At {
			before := rest
			before.Until, before.Cut = explain.Mark{Record: events.Sequence(g.Listing), At: from}, true
			parts = append(parts, &before)
		}
		if until == 0 || until >= c.LackUntil(&rest) {
			return parts
		}
		rest.From = explain.Mark{Record: events.Sequence(g.Synced), At: until}
	}
	return append(parts, &rest)
}

// LackNow returns the period with too few pods (Lack) that has not ended; nil if there is none, or if it is shorter
// than lackStuck (10 s).
func (c *Case) LackNow() *Lack {
	open := c.Want.open()
	if open == nil {
		return nil
	}
	parts := c.watched(open)
	if len(parts) == 0 {
		return nil
	}
	if x := parts[len(parts)-1]; x.Until.Record == 0 && c.End().Sub(x.From.At) >= lackStuck {
		return x
	}
	return nil
}

// NoPods says how many pods were wanted in this period, while none came.
func (x *Lack) NoPods() string {
	return fmt.Sprintf("no pod came, though %d %s wanted", x.Pods, explain.Was(x.Pods))
}
