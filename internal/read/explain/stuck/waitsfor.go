package stuck

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/history"
)

// WaitsFor says what a Job that has not ended waits for, since when, and until when if known. freed are sentences that
// say how other Jobs got over the same obstacle.
func WaitsFor(c *jobcase.Case, freed []explain.Sentence) []explain.Sentence {
	if _, is := c.Unseen(); is {
		return nil
	}
	out := KeptBy(c, freed)
	for _, w := range c.Job.Waits {
		out = append(out, timer(c, &w))
	}
	if len(out) > 0 && c.Folded != nil && c.Ours() && nothingEndsIt(c) {
		out = append(out, explain.Say(nil, "Jobledger has nothing to do: %d wanted, %d exist. Nothing in its spec ends the wait: activeDeadlineSeconds is not set",
			wanted(c), c.Job.Counts.Active))
	}
	return explain.Fewer(out, 5)
}

// KeptBy says what delays the Job for an unknown time: pods that cannot run, finalizers, or refusals of the API server.
// freed are sentences about other Jobs with the same obstacle.
func KeptBy(c *jobcase.Case, freed []explain.Sentence) (out []explain.Sentence) {
	out = heldByGroup(c)
	groups := Waiting(c)
	for _, g := range groups {
		out = append(out, waitsOf(c, g, len(groups) == 1)...)
	}
	for _, t := range c.Tries {
		if t.AskedSeen.Record != 0 && t.Gone.Record == 0 && len(t.Finalizers) > 0 {
			out = append(out, explain.Say(explain.Marks(t.AskedSeen, t.Newest),
				"%s is being deleted since %s, and kept by finalizer %s",
				t.Pod, c.Clock(t.Asked), t.Finalizers[0]))
		}
	}
	for _, t := range hanging(c) {
		if len(t.Finalizers) == 0 {
			out = append(out, hangs(c, t))
		}
	}
	for _, t := range silent(c) {
		out = append(out, silentText(c, t))
	}
	for _, h := range Halves(c) {
		out = append(out, explain.Say(h.From, "the end of %s: %s", h.try.Pod, h.Text))
	}
	out = append(out, freed...)
	out = append(out, Lacked(c, true)...)
	if None(c) {
		why, from := NoneSince(c)
		out = append(out, explain.Say(explain.Marks(from), "no pod is wanted, as %s", why))
	}
	return out
}

// timer describes wait w, which ends at a known time.
func timer(c *jobcase.Case, w *history.Wait) explain.Sentence {
	var from []explain.Mark
	if w.For == "activeDeadlineSeconds" {
		from = explain.Marks(c.StartSeen)
	}
	return explain.Say(from, "%s, until %s", w.For, c.Clock(events.Time(w.Until)))
}

// nothingEndsIt reports whether the Job may wait for its pods for ever, because it has no deadline and all wanted pods
// exist.
func nothingEndsIt(c *jobcase.Case) bool {
	return c.Spec != nil && c.Spec.ActiveDeadlineSeconds == nil && len(c.Job.InFlight) == 0 && len(c.Job.Waits) == 0 &&
		int32(wanted(c)) <= c.Job.Counts.Active
}

// wanted returns how many pods of the Job should be active now: parallelism, but no more than the completions that are
// left. A work queue has no completions.
func wanted(c *jobcase.Case) int {
	n := int(jobcase.Number(c.Spec.Parallelism))
	if c.Folded.WorkQueue {
		return n
	}
	return min(n, int(c.Job.Counts.Completions-c.Job.Counts.Succeeded))
}
