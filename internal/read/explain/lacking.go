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

// lack is a time in which a Job of another controller was to have more pods, by our rules, and none came. Who only
// observes is not told what keeps that controller: a refusal of the API server is in no object.
type lack struct {
	From  Mark // the record from which it follows, and since when
	Until Mark // a pod came, or none was wanted any more; none while it lasts
	Pods  int  // so many were to come at first
	Cut   bool // it was not watched from Until on
}

// Of a lack that is shorter than lackTold nothing is said: the built-in controller takes about a second for a pod. With
// lackStuck the Job is stuck.
const (
	lackTold  = 5 * time.Second
	lackStuck = 10 * time.Second
)

// wanting is what is known of the pods that a Job of another controller is to have.
type wanting struct {
	lacks []*lack
	last  Mark        // the newest record by which it was decided
	wake  events.Time // when our rules would ask for more pods, though nothing happens; 0 for never

	failedAt events.Time   // when the newest failure of a pod was seen
	failures map[int32]int // by index
	most     int           // of an index
}

// open is the lack that lasts; nil for none.
func (w *wanting) open() *lack {
	if n := len(w.lacks); n > 0 && w.lacks[n-1].Until.Record == 0 {
		return w.lacks[n-1]
	}
	return nil
}

// begin opens a lack.
func (w *wanting) begin(from Mark, pods int) {
	if w.open() == nil {
		w.lacks = append(w.lacks, &lack{From: from, Pods: pods})
	}
}

// end closes the open lack. One that nobody would be told of is forgotten.
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

// failed takes in a try of which a record shows that it failed.
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

// mayWaitUntil is until when that controller may wait after failures; 0 for not at all. It may take a later time than
// we do for when a pod ended, up to that at which the end was seen.
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

// decided takes in what our rules ask for behind a record.
func (w *wanting) decided(j *projector.Job, d *reconciler.Decision, r *events.Record) {
	w.last, w.wake = markOf(r), d.Wake
	if r.Kind == events.KindPodAdded { // the controller is at it
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

// creates reports whether a decision asks for a pod.
func creates(d *reconciler.Decision) bool {
	for _, c := range d.Decision.Commands() {
		if c.Traits().Kind == events.CommandCreatePod {
			return true
		}
	}
	return false
}

// lacking is how many active pods a Job has too few.
func lacking(j *projector.Job) int {
	n := int(number(j.Spec.Parallelism))
	if !j.WorkQueue {
		n = min(n, int(j.Completions)-int(j.SucceededCount()))
	}
	return max(n-int(j.Tally().Active), 1)
}

// ripe asks our rules about a Job of another controller when a wait was over, as the records so far have it: a backoff,
// or its deadline.
func (c *Case) ripe(j *projector.Job, now events.Time) {
	w := &c.want
	if w.wake == 0 || w.wake > now {
		return
	}
	d := reconciler.DecideAt(j, w.wake)
	c.wouldSettle(&d, Mark{At: w.wake}) // no record says that time passed
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

// wouldSettle takes in how our rules say that the Job ends.
func (c *Case) wouldSettle(d *reconciler.Decision, by Mark) {
	if s := settlingOf(d.Steps, Mark{}); s != nil && (c.spare == nil || c.spare.Reason != s.Reason) {
		s.Evidence = by
		if first, known := c.spares[s.Reason]; known { // pods that are being deleted already may hide it for a moment
			s.Evidence = first
		}
		if c.spares == nil {
			c.spares = map[string]Mark{}
		}
		c.spares[s.Reason], c.spare = s.Evidence, s
	}
}

// wouldDecide asks our rules about a Job of another controller behind each record: how it would end, and whether it
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
	case !j.Settings.Judges(j.ManagedBy): // our rules say nothing of a third controller
	case listing: // pods may be yet to be listed, and how many are wanted is found when all are
		c.want.end(markOf(r))
		c.want.last, c.want.wake = markOf(r), r.Time
	default:
		c.want.decided(j, &d, r)
	}
}

// lacks are the times in which pods did not come, of which an answer tells.
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

// watched are the parts of a lack of which the records tell: where nobody watched for a time, those before and behind.
// There are none where the namespace was over its budget of log meanwhile, as pods may have come without a record.
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

// lackNow is the lack that lasts, of a Job that goes on; nil for none, and for one that may end in a moment.
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

// noPods says of a lack what came, or did not.
func (x *lack) noPods() string {
	return fmt.Sprintf("no pod came, though %d %s wanted", x.Pods, was(x.Pods))
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// lacked says when pods did not come, and what is missing to know why: of the time that lasts, or of those that are
// over.
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
