package explain

import (
	"fmt"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
)

// lack is a period in which a Job of another controller should have had more pods, by our rules, and none came. An
// observer cannot see what keeps that controller: no object shows a refusal of the API server.
type lack struct {
	From  Mark // the record from which it follows, and its beginning
	Until Mark // a pod came, or none was wanted any more; none while it lasts
	Pods  int  // number of missing pods at the beginning
	Cut   bool // the watch ended at Until
}

// A lack shorter than lackTold is not reported: the built-in controller takes about a second for a pod. A lack of
// lackStuck makes the Job stuck.
const (
	lackTold  = 5 * time.Second
	lackStuck = 10 * time.Second
)

// wanting collects the lacks of a Job of another controller.
type wanting struct {
	lacks []*lack
	last  Mark        // the newest record from which our rules decided
	wake  events.Time // when our rules would create pods without a further event; 0 for never

	failedAt events.Time   // when the newest failure of a pod was seen
	failures map[int32]int // number of failures by index
	most     int           // the maximum of failures
}

// open returns the lack that lasts; nil for none.
func (w *wanting) open() *lack {
	if n := len(w.lacks); n > 0 && w.lacks[n-1].Until.Record == 0 {
		return w.lacks[n-1]
	}
	return nil
}

// begin opens a lack, unless one is open.
func (w *wanting) begin(from Mark, pods int) {
	if w.open() == nil {
		w.lacks = append(w.lacks, &lack{From: from, Pods: pods})
	}
}

// end closes the open lack. It drops a lack that is too short to report.
func (w *wanting) end(at Mark) {
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
func (w *wanting) failed(t *Try, r *events.Record) {
	if !t.failed() || t.end().Record != r.Sequence {
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
	w.last, w.wake = markOf(r), d.Wake
	if r.Kind == events.KindPodAdded { // the controller is creating pods
		w.end(markOf(r))
	}
	switch {
	case !creates(d):
		w.end(markOf(r))
	case w.mayWaitUntil(j) > r.Time:
		w.wake = r.Time
	default:
		w.begin(markOf(r), lacking(j))
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
	n := int(number(j.Spec.Parallelism))
	if !j.WorkQueue {
		n = min(n, int(j.Completions)-int(j.SucceededCount()))
	}
	return max(n-int(j.Tally().Active), 1)
}

// ripe asks our rules about a Job of another controller when a timer expired between two records: a backoff, or the
// Job's deadline.
func (c *Case) ripe(j *projector.Job, now events.Time) {
	w := &c.want
	if w.wake == 0 || w.wake > now {
		return
	}
	d := reconciler.DecideAt(j, w.wake)
	c.wouldSettle(&d, Mark{At: w.wake}) // the passing of time has no record
	if at := w.mayWaitUntil(j); creates(&d) && at > w.wake {
		if at > now {
			return
		}
		w.wake, d = at, reconciler.DecideAt(j, at)
	}
	if creates(&d) {
		w.begin(Mark{w.last.Record, w.wake}, lacking(j))
	}
	w.wake = 0
}

// wouldSettle notes the end that our rules would give the Job.
func (c *Case) wouldSettle(d *reconciler.Decision, by Mark) {
	if s := settlingOf(d.Steps, Mark{}); s != nil && (c.spare == nil || c.spare.Reason != s.Reason) {
		s.Evidence = by
		if first, known := c.spares[s.Reason]; known { // pods under deletion may hide the reason for a moment
			s.Evidence = first
		}
		if c.spares == nil {
			c.spares = map[string]Mark{}
		}
		c.spares[s.Reason], c.spare = s.Evidence, s
	}
}

// wouldDecide asks our rules about a Job of another controller after each record: how the Job would end, and whether it
// lacks pods.
func (c *Case) wouldDecide(r *events.Record, listing bool) {
	j := c.folded
	if c.ours() || c.settled != nil || j == nil || j.Spec == nil || !j.Known() || j.Finished() {
		c.want.end(markOf(r))
		c.want.wake = 0
		return
	}
	d := reconciler.DecideAt(j, r.Time)
	c.wouldSettle(&d, markOf(r))
	switch {
	case !j.Settings.Judges(j.ManagedBy): // our rules do not cover a third controller
	case listing: // pods may be missing until the listing is complete
		c.want.end(markOf(r))
		c.want.last, c.want.wake = markOf(r), r.Time
	default:
		c.want.decided(j, &d, r)
	}
}

// lacks returns the lacks that an answer reports.
func (c *Case) lacks() (told []*lack) {
	for _, x := range c.want.lacks {
		for _, part := range c.watched(x) {
			if c.lackUntil(part).Sub(part.From.At) >= lackTold {
				told = append(told, part)
			}
		}
	}
	return told
}

func (c *Case) lackUntil(x *lack) events.Time {
	if x.Until.Record != 0 {
		return x.Until.At
	}
	return c.end()
}

// watched returns the parts of a lack that were watched: a gap splits it in two. It returns none if the namespace was
// over its log budget meanwhile, because pods may have come without a record.
func (c *Case) watched(x *lack) (parts []*lack) {
	if len(c.passed.Touching(c.Job.Namespace, false, x.From.At, c.lackUntil(x))) > 0 {
		return nil
	}
	rest := *x
	for _, g := range c.touching() {
		from, until := events.Time(g.From), events.Time(g.Until)
		if from == 0 || from >= c.lackUntil(&rest) || until != 0 && until <= rest.From.At {
			continue
		}
		if from > rest.From.At {
			before := rest
			before.Until, before.Cut = Mark{events.Sequence(g.Listing), from}, true
			parts = append(parts, &before)
		}
		if until == 0 || until >= c.lackUntil(&rest) {
			return parts
		}
		rest.From = Mark{events.Sequence(g.Synced), until}
	}
	return append(parts, &rest)
}

// lackNow returns the lack that lasts; nil for none, and for one shorter than lackStuck.
func (c *Case) lackNow() *lack {
	open := c.want.open()
	if open == nil {
		return nil
	}
	parts := c.watched(open)
	if len(parts) == 0 {
		return nil
	}
	if x := parts[len(parts)-1]; x.Until.Record == 0 && c.end().Sub(x.From.At) >= lackStuck {
		return x
	}
	return nil
}

// noPods says how many pods were wanted and did not come.
func (x *lack) noPods() string {
	return fmt.Sprintf("no pod came, though %d %s wanted", x.Pods, was(x.Pods))
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// lacked says when pods did not come, and which records are missing to explain it. With lasts set it covers the lack
// that lasts, otherwise the lacks that are over.
func (c *Case) lacked(lasts bool) []Sentence {
	var out []Sentence
	for _, x := range c.lacks() {
		if lasts != (x.Until.Record == 0 && !c.over()) {
			continue
		}
		until := "to " + c.clock(x.Until.At)
		if x.Cut {
			until += ", when it was watched no more"
		}
		if x.Until.Record == 0 {
			until = "until it was deleted"
			if c.Job.State != history.StateDeleted {
				until = "on"
			}
		}
		text := fmt.Sprintf("%s, from %s %s (%s): why is unknown", x.noPods(), c.clock(x.From.At), until, words.Span(c.lackUntil(x).Sub(x.From.At)))
		if len(out) == 0 {
			text += "; missing: what the API server answered " + c.controller() +
				", if that asked (quota, webhook, right): only its Events tell it, and they are not read"
		}
		out = append(out, say(marks(x.From, x.Until), "%s", text))
	}
	return fewer(out, 2)
}
