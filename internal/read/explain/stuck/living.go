package stuck

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// None reports whether the Job has no pods because its parallelism is 0.
func None(c *jobcase.Case) bool {
	there := func(t *try.Try) bool { return !t.Over() }
	return c.Spec != nil && jobcase.Number(c.Spec.Parallelism) == 0 && !c.Spec.Suspend && !slices.ContainsFunc(c.Tries,
		there)
}

// Stuckness says why a Job cannot go on without help.
type Stuckness struct {
	Text  string
	Cause string         // a text that is equal for Jobs with the same cause; empty if the wait of the pods has it
	From  []explain.Mark // records that prove it, the beginning first
}

// Find says why the Job cannot go on without help; nil if it can. running is the number of its running pods.
func Find(c *jobcase.Case, running int) *Stuckness {
	if running > 0 {
		return nil
	}
	for _, g := range Waiting(c) {
		if tooLong(c, g[0].LastWait()) {
			return &Stuckness{try.PodsText(g) + ": " + g[0].WaitWord(), "", explain.Marks(g[0].StuckFrom())}
		}
	}
	if x := c.RefusedNow(events.CommandCreatePod); x != nil {
		return &Stuckness{fmt.Sprintf("the API server refuses its pods (%s)", x.Class), "", explain.Marks(x.First, x.Last)}
	}
	if x := heldGroup(c); x != nil {
		return &Stuckness{"no pod without its PodGroup: " + x.NoGroup(), fmt.Sprintf("no PodGroup (%s)", x.Class),
			explain.Marks(x.First, x.Last)}
	}
	if x := c.LackNow(); x != nil {
		return &Stuckness{x.NoPods(), "", []explain.Mark{x.From}}
	}
	if all := onOneNode(silent(c)); len(all) > 0 {
		text := fmt.Sprintf("nothing is heard of %s, bound to %s", try.PodsText(all), all[0].Node)
		return &Stuckness{text, "nothing is heard from " + all[0].Node, []explain.Mark{all[0].Placed}}
	}
	if all := hanging(c); len(all) > 0 {
		return &Stuckness{hangWord(all), "pods do not stop" + try.On(all[0].Node), []explain.Mark{all[0].AskedSeen}}
	}
	if x := c.RefusedNow(events.CommandDropFinalizer); x != nil {
		text := fmt.Sprintf("the API server refuses to take the finalizer off its pods (%s)", x.Class)
		return &Stuckness{text, "finalizer: " + x.Class.String(), explain.Marks(x.First, x.Last)}
	}
	return nil
}

// heldGroup returns the newest refusal of the API server to create the Job's Workload or PodGroup, without which the
// Job gets no pods (J-241); nil if this is not so.
func heldGroup(c *jobcase.Case) *jobcase.Refusal {
	if c.Job.Reason != history.NoPodGroup {
		return nil
	}
	var newest *jobcase.Refusal
	for _, x := range c.Refusals {
		if x.Kind.Traits().Slot == events.SlotGroup && x.Over.Record == 0 && (newest == nil ||
			x.Last.Record > newest.Last.Record) {
			newest = x
		}
	}
	return newest
}

// heldByGroup says that the Job gets no pods because the API server refused its PodGroup, and quotes the refusal.
func heldByGroup(c *jobcase.Case) (out []explain.Sentence) {
	x := heldGroup(c)
	if x == nil {
		return nil
	}
	why := "it is to be scheduled by one"
	if c.Spec != nil && c.Spec.SchedulingPolicy == events.PolicyGang {
		why = "it asks for a gang"
	}
	text := "the API server says, asked to " + x.Kind.Traits().Verb + ": " + cmp.Or(x.Says, "nothing that the log has")
	if x.Says == "" && x.Own != "" {
		text = x.Own
	}
	return append(out, explain.Say(explain.Marks(c.Added, x.First, x.Last),
		"no pod is made before its PodGroup is there, as %s: %s", why, text))
}

// RunningNow returns the number of the Job's running pods. Pods that should have stopped do not count.
func RunningNow(c *jobcase.Case) int {
	n, hanging := 0, hanging(c)
	for _, t := range c.Tries {
		if !t.Over() && t.Started.Record != 0 && t.WaitText() == "" && !slices.Contains(hanging, t) {
			n++
		}
	}
	return n
}
