package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// How long the node of a pod may take before nothing goes on by itself.
const (
	stopSlack = 30 * time.Second // to end a pod after its grace period: the kubelet kills it, unmounts its volumes, and deletes it
	silence   = time.Minute      // to say a first word of a pod that was bound to the node
	creating  = 5 * time.Minute  // to pull images, mount volumes and make containers (ContainerCreating)

	// initializing is for init containers to end, sidecars to start, and images behind them to be pulled
	// (PodInitializing). Most wait for a database or bring a schema up to date: 5 minutes as above, and 10 for that work.
	initializing = 15 * time.Minute
)

// hanging are the pods that are being deleted, and are there though their grace period was over a while ago.
func (c *Case) hanging() (out []*Try) {
	for _, t := range c.Tries {
		if t.AskedSeen.Record != 0 && !t.over() && c.end() > t.stopsAt().Add(stopSlack) {
			out = append(out, t)
		}
	}
	return out
}

// stopsAt is when the grace period of a pod that is being deleted is over, by the API server's clock.
func (t *Try) stopsAt() events.Time {
	if t.Grace == nil {
		return t.Asked
	}
	return t.Asked.Add(time.Duration(min(*t.Grace, 1<<32)) * time.Second)
}

// hangs says of pods that do not stop since when each is being deleted, where, and what ends it.
func (c *Case) hangs(t *Try) Sentence {
	text := fmt.Sprintf("%s%s is being deleted since %s", t.Pod, on(t.Node), c.clock(t.AskedSeen.At))
	from := marks(t.AskedSeen, t.graceBy, t.Newest)
	if t.Node == "" {
		return say(from, "%s, and is there still", text)
	}
	if t.Grace != nil && *t.Grace > 0 {
		text += fmt.Sprintf(" (given %s)", words.Span(seconds(*t.Grace)))
	}
	text += ", and its kubelet has not ended it"
	if n, ok := c.nodeOf(t, Mark{At: c.end()}); ok {
		text, from = text+": "+c.nodeWords(&n, t.Node), append(from, n.Mark)
	}
	return say(from, "%s; it ends when its kubelet does so, or by a deletion by force", text)
}

func on(node string) string {
	if node == "" {
		return ""
	}
	return " on " + node
}

// hangWord is what an answer says first of pods that do not stop.
func hangWord(all []*Try) string {
	text := all[0].Pod + on(all[0].Node)
	if len(all) > 1 {
		return fmt.Sprintf("%s and %s do not stop", text, words.Count(len(all)-1, "other pod"))
	}
	return text + " does not stop"
}

// stopping says how it is with the pods of a Job whose end is settled, and by which record.
func (c *Case) stopping() (text string, from Mark) {
	if all := c.hanging(); len(all) > 0 {
		return fmt.Sprintf("%s (being deleted since %s)", hangWord(all), c.clock(all[0].AskedSeen.At)), all[0].AskedSeen
	}
	if !slices.ContainsFunc(c.Tries, func(t *Try) bool { return !t.over() }) {
		return "none of its pods is left", Mark{}
	}
	return "its pods are being stopped", Mark{}
}

// silent are the pods that were bound to a node a while ago, of which its kubelet has said nothing.
func (c *Case) silent() (out []*Try) {
	if len(c.passed.Touching(c.Job.Namespace, false, c.start(), c.end())) > 0 { // it may have been passed over
		return nil
	}
	for _, t := range c.Tries {
		if t.Placed.Record != 0 && !t.heard && !t.Stated && !t.over() && t.AskedSeen.Record == 0 && c.end().Sub(t.Placed.At) >= silence {
			out = append(out, t)
		}
	}
	return out
}

// kubeletSays are the conditions that a kubelet sets of a pod when it first takes it.
var kubeletSays = []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"}

// hear takes in whether the kubelet of the pod's node has said something of it.
func (t *Try) hear(r *events.Record, f *events.PodSeen) {
	ofKubelet := func(c events.PodCondition) bool { return slices.Contains(kubeletSays, c.Type) }
	t.heard = t.heard || f.Phase != events.PodPending && f.Phase != events.PodPhaseNone || len(r.Evidence.Containers) > 0 ||
		t.Placed.Record != 0 && f.Waiting != "" && f.Waiting != "Unschedulable" && f.Waiting != "SchedulingGated" ||
		slices.ContainsFunc(f.Conditions, ofKubelet)
}

// silentText says of a pod of which nothing is heard since when, where, and what ends it.
func (c *Case) silentText(t *Try) Sentence {
	text, from := fmt.Sprintf("%s is bound to %s since %s, whose kubelet has said nothing of it", t.Pod, t.Node, c.clock(t.Placed.At)), marks(t.Placed, t.Newest)
	if n, ok := c.nodeOf(t, Mark{At: c.end()}); ok {
		text, from = text+": "+c.nodeWords(&n, t.Node), append(from, n.Mark)
	}
	return say(from, "%s; the kubelet starts it when it is back, or the pod is deleted", text)
}

// tooLong reports whether a wait is one with which nothing goes on by itself.
func (c *Case) tooLong(w *Waiting) bool {
	bounds := map[string]time.Duration{"ContainerCreating": creating, "PodInitializing": initializing}
	bound, has := bounds[w.Reason]
	return slices.Contains(stuckWords, w.Reason) || has && c.end().Sub(w.From.At) >= bound
}

// sandboxTold is the shortest wait of which is told what a kubelet does before it makes containers: of a pod that is
// well it takes less.
const sandboxTold = 10 * time.Second

// unsaid is what the log lacks of a wait: its word does not say what is waited for, and no record does.
func (c *Case) unsaid(w *Waiting) string {
	switch {
	case w.sandbox != events.SandboxUnsaid && c.end().Sub(w.From.At) < sandboxTold:
		return ""
	case w.sandbox == events.SandboxNone:
		return "; volumes are mounted before it has a sandbox: 'kubectl describe pod' shows its Events, which are not read"
	case w.sandbox == events.SandboxReady:
		return "; it has a sandbox, so its images are pulled: 'kubectl describe pod' shows its Events, which are not read"
	case w.sandbox != events.SandboxUnsaid: // the message says it
		return ""
	case w.Reason == "ContainerCreating" && c.tooLong(w):
		return "; missing: what its kubelet waits for (a volume, a Secret, the network): only its Events tell it, and they are not read"
	case w.Reason == "PodInitializing":
		_, template := c.firstSpec()
		return fmt.Sprintf("; missing: which of its init containers%s runs or waits, or which image behind them: it is not recorded before they end", within(initials(template)))
	}
	return ""
}

// within is names in brackets; empty for none.
func within(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// ended0 is the first of its regular containers that ended with 0; nil for none.
func (t *Try) ended0() *events.ContainerEnd {
	var first *events.ContainerEnd
	for i := range t.Containers {
		e := &t.Containers[i]
		if e.Kind == events.RegularContainer && e.ExitCode == 0 && !e.Again && (first == nil || e.Finished < first.Finished) {
			first = e
		}
	}
	return first
}

// atClock is a time behind a word; empty for none.
func (c *Case) atClock(t events.Time) string {
	if t == 0 {
		return ""
	}
	return " at " + c.clock(t)
}

// list is names and what one of them does, or several.
func list(names []string, one, several string) string {
	if len(names) == 1 {
		return names[0] + " " + one
	}
	return strings.Join(names, ", ") + " " + several
}
