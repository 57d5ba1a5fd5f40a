package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
)

// stuckWords are the waiting reasons of the scheduler and the kubelet that do not end by themselves.
var stuckWords = []string{
	"Unschedulable", "SchedulingGated", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "ErrImageNeverPull", "CrashLoopBackOff",
	"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
}

// stuckFrom returns since when the try is stuck. It covers the alternation of two reasons for an image that cannot be
// pulled, and the runs of a crashing container.
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

// said returns the record that has the message; none without a message.
func (w *Waiting) said() Mark {
	if w.Message == "" {
		return Mark{}
	}
	return w.Said
}

// wait0 returns the newest wait of the try.
func (t *Try) wait0() *Waiting { return &t.Waits[len(t.Waits)-1] }

// livingVerdict returns the verdict about a Job that goes on.
func (c *Case) livingVerdict() Sentence {
	now := c.end()
	running := c.runningNow()
	done := fmt.Sprintf("%d of %d done", c.Job.Counts.Succeeded, c.Job.Counts.Completions)
	if c.Job.Counts.Completions == 0 {
		done = fmt.Sprintf("%d succeeded", c.Job.Counts.Succeeded)
	}
	if x := c.stuck(running); x != nil {
		return say(x.from, "STUCK for %s: %s", words.Span(now.Sub(x.from[0].At)), x.text)
	}
	switch {
	case running > 0:
		what := words.Count(running, "pod") + " running"
		if all := c.halves(); len(all) > 0 && len(all) == running {
			return say(append(marks(c.added), all[0].from...), "RUNNING for %s: %s; %s", words.Span(now.Sub(c.start())), all[0].text, done)
		}
		return say(marks(c.added), "RUNNING for %s: %s, %s", words.Span(now.Sub(c.start())), what, done)
	case c.none():
		return say(marks(c.added, c.parallelismSet()), "WAITING for %s: no pod is wanted, as parallelism is 0", words.Span(now.Sub(c.start())))
	}
	if wait := c.podWait(); wait.Until > now {
		text := fmt.Sprintf("WAITING until %s: backoff after %s", c.clock(wait.Until), words.Count(wait.Failures, "failed pod"))
		failed := c.backedOff(wait)
		return say(cite(failed, (*Try).end), "%s; %s", text, done)
	}
	return say(marks(c.added), "WAITING for %s: %s", words.Span(now.Sub(c.start())), done)
}

// none reports whether the Job goes on without pods because its parallelism is 0.
func (c *Case) none() bool {
	there := func(t *Try) bool { return !t.over() }
	return c.Spec != nil && number(c.Spec.Parallelism) == 0 && !c.Spec.Suspend && !slices.ContainsFunc(c.Tries, there)
}

// podWait returns the wait of the next pod if only the backoff after failures delays it; otherwise zero.
func (c *Case) podWait() projector.PodWait {
	if c.folded == nil {
		return projector.PodWait{}
	}
	wait := c.folded.NextPodWait()
	if !slices.ContainsFunc(c.Job.Waits, func(w history.Wait) bool { return w.Until == recordjson.Instant(wait.Until) }) {
		return projector.PodWait{} // no pod is due
	}
	return wait
}

// backedOff returns the newest tries that ended without success, as many as the backoff counts.
func (c *Case) backedOff(wait projector.PodWait) (out []*Try) {
	for _, t := range c.Tries {
		if wait.Index != events.NoIndex && t.Index != wait.Index {
			continue
		}
		if t.Phase != events.PodSucceeded && t.end().Record != 0 {
			out = append(out, t)
		}
	}
	slices.SortStableFunc(out, func(a, b *Try) int { return cmp.Compare(a.end().Record, b.end().Record) })
	return out[max(0, len(out)-wait.Failures):]
}

// stuckness is why a Job does not go on by itself.
type stuckness struct {
	text  string
	cause string // equal for Jobs that are stuck alike; empty if their pods' wait says it
	from  []Mark // the records that show it, the beginning first
}

// stuck says why the Job cannot go on by itself, given the number of running pods; nil if it can.
func (c *Case) stuck(running int) *stuckness {
	if running > 0 {
		return nil
	}
	for _, g := range c.waiting() {
		if c.tooLong(g[0].wait0()) {
			return &stuckness{podsText(g) + ": " + g[0].waitWord(), "", marks(g[0].stuckFrom())}
		}
	}
	if x := c.refusedNow(events.CommandCreatePod); x != nil {
		return &stuckness{fmt.Sprintf("the API server refuses its pods (%s)", x.Class), "", marks(x.First, x.Last)}
	}
	if x := c.heldGroup(); x != nil {
		return &stuckness{"no pod without its PodGroup: " + x.noGroup(), fmt.Sprintf("no PodGroup (%s)", x.Class), marks(x.First, x.Last)}
	}
	if x := c.lackNow(); x != nil {
		return &stuckness{x.noPods(), "", []Mark{x.From}}
	}
	if all := onOneNode(c.silent()); len(all) > 0 {
		text := fmt.Sprintf("nothing is heard of %s, bound to %s", podsText(all), all[0].Node)
		return &stuckness{text, "nothing is heard from " + all[0].Node, []Mark{all[0].Placed}}
	}
	if all := c.hanging(); len(all) > 0 {
		return &stuckness{hangWord(all), "pods do not stop" + on(all[0].Node), []Mark{all[0].AskedSeen}}
	}
	if x := c.refusedNow(events.CommandDropFinalizer); x != nil {
		text := fmt.Sprintf("the API server refuses to take the finalizer off its pods (%s)", x.Class)
		return &stuckness{text, "finalizer: " + x.Class.String(), marks(x.First, x.Last)}
	}
	return nil
}

// heldGroup returns the newest refusal of a command for the Job's Workload and PodGroup, while the Job has no pod
// because of it (J-241); nil for none.
func (c *Case) heldGroup() *refusal {
	if c.Job.State != history.StateWaiting || c.Job.Reason != history.NoPodGroup {
		return nil
	}
	var newest *refusal
	for _, x := range c.refusals {
		if x.Kind.Traits().Slot == events.SlotGroup && x.Over.Record == 0 && (newest == nil || x.Last.Record > newest.Last.Record) {
			newest = x
		}
	}
	return newest
}

// noGroup says in a few words why there is no PodGroup.
func (x *refusal) noGroup() string {
	what := "Workload and PodGroup"
	switch x.Kind {
	case events.CommandCreateWorkload:
		what = "Workload"
	case events.CommandCreatePodGroup:
		what = "PodGroup"
	}
	if x.Class == events.RefusedNameTaken {
		return "the name of its " + what + " is taken"
	}
	return fmt.Sprintf("its %s cannot be made or read (%s)", what, x.Class)
}

// heldByGroup quotes the API server's refusal of the PodGroup.
func (c *Case) heldByGroup() (out []Sentence) {
	x := c.heldGroup()
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
	return append(out, say(marks(c.added, x.First, x.Last), "no pod is made before its PodGroup is there, as %s: %s", why, text))
}

// refusedNow returns the refusal of a kind that lasts; nil for none.
func (c *Case) refusedNow(kind events.CommandKind) *refusal {
	for _, x := range c.refusals {
		if x.Over.Record == 0 && x.Then == nil && x.Kind == kind {
			return x
		}
	}
	return nil
}

// runningNow returns the number of running pods.
func (c *Case) runningNow() int {
	n, hanging := 0, c.hanging()
	for _, t := range c.Tries {
		if !t.over() && t.Started.Record != 0 && t.waitText() == "" && !slices.Contains(hanging, t) {
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

// waitWord says what the try waits for; it names a scheduling gate.
func (t *Try) waitWord() string {
	if w := t.wait0(); len(w.By) > 0 {
		return list(w.By, "(scheduling gate) holds it", "(scheduling gates) hold it")
	}
	return waitWord(t.wait0().Reason)
}

// waitWord translates a reason of the scheduler or the kubelet for people.
func waitWord(reason string) string {
	switch reason {
	case "Unschedulable":
		return "cannot be scheduled"
	case "SchedulingGated":
		return "a scheduling gate holds it"
	case "ImagePullBackOff", "ErrImagePull":
		return "the image cannot be pulled (" + reason + ")"
	case "PodInitializing":
		return "its init containers have not ended, or an image behind them is not there (PodInitializing)"
	case "CrashLoopBackOff":
		return "its container crashes again and again (CrashLoopBackOff)"
	}
	return reason
}

// waitsFor says what a Job that goes on waits for, since when, and until when if known.
func (c *Case) waitsFor(freed []Sentence) []Sentence {
	if _, is := c.unseen(); is {
		return nil
	}
	out := c.keptBy(freed)
	for _, w := range c.Job.Waits {
		out = append(out, c.timer(&w))
	}
	if len(out) > 0 && c.folded != nil && c.ours() && c.nothingEndsIt() {
		out = append(out, say(nil, "Jobledger has nothing to do: %d wanted, %d exist. Nothing in its spec ends the wait: activeDeadlineSeconds is not set",
			c.wanted(), c.Job.Counts.Active))
	}
	return fewer(out, 5)
}

// keptBy says what delays the Job without a time limit: pods that cannot run, finalizers, refusals.
func (c *Case) keptBy(freed []Sentence) (out []Sentence) {
	out = c.heldByGroup()
	groups := c.waiting()
	for _, g := range groups {
		out = append(out, c.waitsOf(g, len(groups) == 1)...)
	}
	for _, t := range c.Tries {
		if t.AskedSeen.Record != 0 && t.Gone.Record == 0 && len(t.Finalizers) > 0 {
			out = append(out, say(marks(t.AskedSeen, t.Newest), "%s is being deleted since %s, and kept by finalizer %s",
				t.Pod, c.clock(t.Asked), t.Finalizers[0]))
		}
	}
	for _, t := range c.hanging() {
		if len(t.Finalizers) == 0 {
			out = append(out, c.hangs(t))
		}
	}
	for _, t := range c.silent() {
		out = append(out, c.silentText(t))
	}
	for _, h := range c.halves() {
		out = append(out, say(h.from, "the end of %s: %s", h.try.Pod, h.text))
	}
	out = append(out, freed...)
	out = append(out, c.lacked(true)...)
	if c.none() {
		out = append(out, say(marks(c.parallelismSet()), "parallelism is 0, so no pod is wanted"))
	}
	return out
}

// timer describes a wait that ends at a known time.
func (c *Case) timer(w *history.Wait) Sentence {
	var from []Mark
	if w.For == "activeDeadlineSeconds" {
		from = marks(c.startSeen)
	}
	return say(from, "%s, until %s", w.For, c.clock(events.Time(w.Until)))
}

// nothingEndsIt reports whether the Job's spec has no deadline that ends a wait for its pods.
func (c *Case) nothingEndsIt() bool {
	return c.Spec != nil && c.Spec.ActiveDeadlineSeconds == nil && len(c.Job.InFlight) == 0 && len(c.Job.Waits) == 0 &&
		int32(c.wanted()) <= c.Job.Counts.Active
}

// wanted returns how many pods should be active.
func (c *Case) wanted() int {
	n := int(number(c.Spec.Parallelism))
	if c.folded.WorkQueue {
		return n
	}
	return min(n, int(c.Job.Counts.Completions-c.Job.Counts.Succeeded))
}
