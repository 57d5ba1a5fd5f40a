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

// Lack is a period in which a Job of another controller should have had more pods, by our rules, and none came. An
// observer cannot see what keeps that controller: no object shows a refusal of the API server.
type Lack struct {
	From  explain.Mark // the record from which it follows, and its beginning
	Until explain.Mark // a pod came, or none was wanted any more; none while it lasts
	Pods  int          // number of missing pods at the beginning
	Cut   bool         // the watch ended at Until
}

// A lack shorter than lackTold is not reported: the built-in controller takes about a second for a pod. A lack of
// lackStuck makes the Job stuck.
const (
	lackTold  = 5 * time.Second
	lackStuck = 10 * time.Second
)

// wanting collects the lacks of a Job of another controller.
type wanting struct {
	lacks []*Lack
	last  explain.Mark // the newest record from which our rules decided
	wake  events.Time  // when our rules would create pods without a further event; 0 for never

	failedAt events.Time   // when the newest failure of a pod was seen
	failures map[int32]int // number of failures by index
	most     int           // the maximum of failures
}

// open returns the lack that lasts; nil for none.
func (w *wanting) open() *Lack {
	if n := len(w.lacks); n > 0 && w.lacks[n-1].Until.Record == 0 {
		return w.lacks[n-1]
	}
	return nil
}

// begin opens a lack, unless one is open.
func (w *wanting) begin(from explain.Mark, pods int) {
	if w.open() == nil {
		w.lacks = append(w.lacks, &Lack{From: from, Pods: pods})
	}
}

// end closes the open lack. It drops a lack that is too short to report.
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

// failed notes a try that a record shows as failed.
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

// mayWaitUntil returns the latest end of that controller's backoff after failures; 0 for no backoff. That controller
// may take a later time for a pod's end than we do, up to the time the end was seen.
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

// decided notes what our rules would do after a record.
func (w *wanting) decided(j *projector.Job, d *reconciler.Decision, r *events.Record) {
	w.last, w.wake = explain.MarkOf(r), d.Wake
	if r.Kind == events.KindPodAdded { // the controller is creating pods
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

// creates reports whether a decision creates a pod.
func creates(d *reconciler.Decision) bool {
	for _, c := range d.Decision.Commands() {
		if c.Traits().Kind == events.CommandCreatePod {
			return true
		}
	}
	return false
}

// lacking returns the number of missing active pods, at least 1.
func lacking(j *projector.Job) int {
	n := int(Number(j.Spec.Parallelism))
	if !j.WorkQueue {
		n = min(n, int(j.Completions)-int(j.SucceededCount()))
	}
	return max(n-int(j.Tally().Active), 1)
}

// ripe asks our rules about a Job of another controller when a timer expired between two records: a backoff, or the
// Job's deadline.
func (c *Case) ripe(j *projector.Job, now events.Time) {
	w := &c.Want
	if w.wake == 0 || w.wake > now {
		return
	}
	d := rules.DecideAt(j, w.wake)
	c.wouldSettle(&d, explain.Mark{At: w.wake}) // the passing of time has no record
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

// wouldSettle notes the end that our rules would give the Job.
func (c *Case) wouldSettle(d *reconciler.Decision, by explain.Mark) {
	if s := settlingOf(d.Steps, explain.Mark{}); s != nil && (c.spare == nil || c.spare.Reason != s.Reason) {
		s.Evidence = by
		if first, known := c.spares[s.Reason]; known { // pods under deletion may hide the reason for a moment
			s.Evidence = first
		}
		if c.spares == nil {
			c.spares = map[string]explain.Mark{}
		}
		c.spares[s.Reason], c.spare = s.Evidence, s
	}
}

// wouldDecide asks our rules about a Job of another controller after each record: how the Job would end, and whether it
// lacks pods.
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
	case !j.Settings.Judges(j.ManagedBy): // our rules do not cover a third controller
	case listing: // pods may be missing until the listing is complete
		c.Want.end(explain.MarkOf(r))
		c.Want.last, c.Want.wake = explain.MarkOf(r), r.Time
	default:
		c.Want.decided(j, &d, r)
	}
}

// Lacks returns the lacks that an answer reports.
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

// watched returns the parts of a lack that were watched: a gap splits it in two. It returns none if the namespace was
// over its log budget meanwhile, because pods may have come without a record.
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

// LackNow returns the lack that lasts; nil for none, and for one shorter than lackStuck.
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

// NoPods says how many pods were wanted and did not come.
func (x *Lack) NoPods() string {
	return fmt.Sprintf("no pod came, though %d %s wanted", x.Pods, explain.Was(x.Pods))
}
