package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/recordjson"
	"github.com/jobledger/jobledger/internal/words"
)

// stuckWords are the words of the scheduler and the kubelet with which nothing goes on by itself.
var stuckWords = []string{
	"Unschedulable", "SchedulingGated", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "CrashLoopBackOff",
	"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
}

// waiting are the tries that do not run, and the reason of each, by reason, the longest wait first.
func (c *Case) waiting() (groups [][]*Try) {
	for _, t := range c.Tries {
		if t.over() || len(t.Waits) == 0 || t.Waits[len(t.Waits)-1].Until.Record != 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g []*Try) bool { return g[0].wait0().Reason == t.wait0().Reason })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], t)
	}
	slices.SortStableFunc(groups, func(a, b []*Try) int { return cmp.Compare(a[0].wait0().From.Record, b[0].wait0().From.Record) })
	return groups
}

// stuckFrom is since when the try is stuck: an image that cannot be pulled is waited for under two words in turn, and a container that
// crashes runs in between.
func (t *Try) stuckFrom() Mark {
	if t.CrashedAt.Record != 0 {
		return t.CrashedAt
	}
	from := t.wait0().From
	for i := len(t.Waits) - 2; i >= 0 && t.Waits[i].Until == from && slices.Contains(stuckWords, t.Waits[i].Reason); i-- {
		from = t.Waits[i].From
	}
	return from
}

// said is the record that has the message; none where nothing was said.
func (w *Waiting) said() Mark {
	if w.Message == "" {
		return Mark{}
	}
	return w.Said
}

// wait0 is what the try waits for.
func (t *Try) wait0() *Waiting { return &t.Waits[len(t.Waits)-1] }

// livingVerdict is the verdict about a Job that goes on.
func (c *Case) livingVerdict() Sentence {
	now := c.end()
	running := c.runningNow()
	done := fmt.Sprintf("%d of %d done", c.Job.Counts.Succeeded, c.Job.Counts.Completions)
	if c.Job.Counts.Completions == 0 {
		done = fmt.Sprintf("%d succeeded", c.Job.Counts.Succeeded)
	}
	if text, from, is := c.stuck(running); is {
		return say(from, "STUCK for %s: %s", words.Span(now.Sub(from[0].At)), text)
	}
	switch {
	case running > 0:
		return say(marks(c.added), "RUNNING for %s: %s, %s", words.Span(now.Sub(c.start())), words.Count(running, "pod")+" running", done)
	}
	if until := c.backoffUntil(); until > now {
		n, _ := c.folded.Failures()
		text := fmt.Sprintf("WAITING until %s: backoff after %s", c.clock(until), words.Count(n, "failed pod"))
		return say(cite(c.backedOff(n), (*Try).end), "%s; %s", text, done)
	}
	return say(marks(c.added), "WAITING for %s: %s", words.Span(now.Sub(c.start())), done)
}

// backoffUntil is when the next pod may come, if one is to come, and only the backoff after failures keeps it from coming; else 0.
func (c *Case) backoffUntil() events.Time {
	if c.folded == nil {
		return 0
	}
	until := c.folded.PodBackoffUntil()
	if !slices.ContainsFunc(c.Job.Waits, func(w history.Wait) bool { return w.Until == recordjson.Instant(until) }) {
		return 0 // no pod is to come
	}
	return until
}

// backedOff are the newest tries that ended and did not succeed, so many: after them the next pod waits.
func (c *Case) backedOff(n int) (out []*Try) {
	for _, t := range c.Tries {
		if t.Phase != events.PodSucceeded && t.end().Record != 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *Try) int { return cmp.Compare(a.end().Record, b.end().Record) })
	return out[max(0, len(out)-n):]
}

// stuck says why nothing of the Job goes on by itself, and what shows it, if so many of its pods run.
func (c *Case) stuck(running int) (text string, from []Mark, is bool) {
	if running > 0 {
		return "", nil, false
	}
	for _, g := range c.waiting() {
		if w := g[0].wait0(); slices.Contains(stuckWords, w.Reason) {
			return podsText(g) + ": " + waitWord(w.Reason), marks(g[0].stuckFrom()), true
		}
	}
	for _, x := range c.refusals {
		if x.Over.Record == 0 && x.Kind == events.CommandCreatePod {
			return fmt.Sprintf("the API server refuses its pods (%s)", x.Class), marks(x.First, x.Last), true
		}
	}
	if x := c.lackNow(); x != nil {
		return x.noPods(), []Mark{x.From}, true
	}
	return "", nil, false
}

// stuckSince is stuck of a Job that goes on, and since when.
func (c *Case) stuckSince() (text string, since events.Time, is bool) {
	text, from, is := c.stuck(c.runningNow())
	if !is {
		return "", 0, false
	}
	return text, from[0].At, true
}

// runningNow is how many of its pods run.
func (c *Case) runningNow() int {
	n := 0
	for _, t := range c.Tries {
		if !t.over() && t.Started.Record != 0 && t.waitText() == "" {
			n++
		}
	}
	return n
}

func podsText(g []*Try) string {
	if len(g) == 1 {
		return g[0].Pod
	}
	return fmt.Sprintf("%s and %s", g[0].Pod, words.Count(len(g)-1, "other pod"))
}

// waitWord is a word of the scheduler's or the kubelet's for people.
func waitWord(reason string) string {
	switch reason {
	case "Unschedulable":
		return "cannot be scheduled"
	case "SchedulingGated":
		return "a scheduling gate holds it"
	case "ImagePullBackOff", "ErrImagePull":
		return "the image cannot be pulled (" + reason + ")"
	case "CrashLoopBackOff":
		return "its container crashes again and again (CrashLoopBackOff)"
	}
	return reason
}

// waitsFor says what a Job that goes on waits for, since when, and until when if that is known.
func (c *Case) waitsFor() []Sentence {
	if _, is := c.unseen(); is {
		return nil
	}
	out := c.keptBy()
	for _, w := range c.Job.Waits {
		out = append(out, c.timer(&w))
	}
	if len(out) > 0 && c.folded != nil && c.ours() && c.nothingEndsIt() {
		out = append(out, say(nil, "Jobledger has nothing to do: %d wanted, %d exist. Nothing in its spec ends the wait: activeDeadlineSeconds is not set",
			c.wanted(), c.Job.Counts.Active))
	}
	return fewer(out, 5)
}

// keptBy says what keeps it, as far as no time is set for that: pods that cannot run, finalizers, refusals.
func (c *Case) keptBy() (out []Sentence) {
	now := c.end()
	for _, g := range c.waiting() {
		w := g[0].wait0()
		from := append(cite(g, func(t *Try) Mark { return t.wait0().From }), marks(w.said())...)
		out = append(out, say(from, "%s: %s since %s (%s)%s",
			podsText(g), w.Reason, c.clock(w.From.At), words.Span(now.Sub(w.From.At)), colon(w.Message)))
	}
	for _, t := range c.Tries {
		if t.AskedSeen.Record != 0 && t.Gone.Record == 0 && len(t.Finalizers) > 0 {
			out = append(out, say(marks(t.AskedSeen, t.Newest), "%s is being deleted since %s, and kept by finalizer %s",
				t.Pod, c.clock(t.Asked), t.Finalizers[0]))
		}
	}
	out = append(out, c.freedText()...)
	out = append(out, c.lacked(true)...)
	if c.noPodWanted() {
		out = append(out, say(marks(c.parallelismSet()), "parallelism is 0, so no pod is wanted"))
	}
	return out
}

// timer says what comes at a known time.
func (c *Case) timer(w *history.Wait) Sentence {
	var from []Mark
	if w.For == "activeDeadlineSeconds" {
		from = marks(c.startSeen)
	}
	return say(from, "%s, until %s", w.For, c.clock(events.Time(w.Until)))
}

// nothingEndsIt reports whether the Job's spec sets no end to a wait for its pods.
func (c *Case) nothingEndsIt() bool {
	return c.Spec != nil && c.Spec.ActiveDeadlineSeconds == nil && len(c.Job.InFlight) == 0 && len(c.Job.Waits) == 0 &&
		int32(c.wanted()) <= c.Job.Counts.Active
}

// wanted is how many pods are to be active.
func (c *Case) wanted() int {
	n := int(number(c.Spec.Parallelism))
	if c.folded.WorkQueue {
		return n
	}
	return min(n, int(c.Job.Counts.Completions-c.Job.Counts.Succeeded))
}
