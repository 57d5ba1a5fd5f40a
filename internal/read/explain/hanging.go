package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Times that a pod's node may take before the pod counts as stuck.
const (
	// To end a pod after its grace period: the kubelet kills it, unmounts its volumes, and deletes it.
	stopSlack = 30 * time.Second
	silence   = time.Minute     // from the binding of the pod to the kubelet's first report
	creating  = 5 * time.Minute // to pull images, mount volumes and create containers (ContainerCreating)

	// initializing is the time for init containers to end, sidecars to start, and later images to be pulled
	// (PodInitializing). Most init containers wait for a database or migrate a schema: 5 minutes as above, and 10 for
	// that work.
	initializing = 15 * time.Minute
)

// hanging returns the pods under deletion that still exist more than stopSlack after their grace period.
func (c *Case) hanging() (out []*Try) {
	for _, t := range c.Tries {
		if t.AskedSeen.Record != 0 && !t.over() && c.end() > t.stopsAt().Add(stopSlack) {
			out = append(out, t)
		}
	}
	return out
}

// stopsAt returns the end of the grace period of a pod under deletion, by the API server's clock.
func (t *Try) stopsAt() events.Time {
	if t.Grace == nil {
		return t.Asked
	}
	return t.Asked.Add(time.Duration(min(*t.Grace, 1<<32)) * time.Second)
}

// hangs says since when a pod that does not stop is under deletion, on which node, and what ends it.
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

// hangWord summarizes the pods that do not stop.
func hangWord(all []*Try) string {
	text := all[0].Pod + on(all[0].Node)
	if len(all) > 1 {
		return fmt.Sprintf("%s and %s do not stop", text, words.Count(len(all)-1, "other pod"))
	}
	return text + " does not stop"
}

// stopping says whether the pods of a Job with a settled end are gone, stopping or hanging, and by which record.
func (c *Case) stopping() (text string, from Mark) {
	if all := c.hanging(); len(all) > 0 {
		return fmt.Sprintf("%s (being deleted since %s)", hangWord(all), c.clock(all[0].AskedSeen.At)), all[0].AskedSeen
	}
	if !slices.ContainsFunc(c.Tries, func(t *Try) bool { return !t.over() }) {
		return "none of its pods is left", Mark{}
	}
	return "its pods are being stopped", Mark{}
}

// silent returns the pods that were bound to a node at least silence ago and whose kubelet has reported nothing about
// them.
func (c *Case) silent() (out []*Try) {
	// The report may have been dropped over the log budget.
	if len(c.passed.Touching(c.Job.Namespace, false, c.start(), c.end())) > 0 {
		return nil
	}
	for _, t := range c.Tries {
		if t.Placed.Record != 0 && !t.heard && !t.Stated && !t.over() && t.AskedSeen.Record == 0 && c.end().Sub(t.Placed.At) >= silence {
			out = append(out, t)
		}
	}
	return out
}

// kubeletSays are the conditions that a kubelet sets when it first takes a pod.
var kubeletSays = []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady"}

// hear notes whether the kubelet of the pod's node has reported anything about the pod.
func (t *Try) hear(r *events.Record, f *events.PodSeen) {
	ofKubelet := func(c events.PodCondition) bool { return slices.Contains(kubeletSays, c.Type) }
	t.heard = t.heard || f.Phase != events.PodPending && f.Phase != events.PodPhaseNone || len(r.Evidence.Containers) > 0 ||
		t.Placed.Record != 0 && f.Waiting != "" && f.Waiting != "Unschedulable" && f.Waiting != "SchedulingGated" ||
		slices.ContainsFunc(f.Conditions, ofKubelet)
}

// silentText says since when the kubelet has been silent about a pod, on which node, and what ends that.
func (c *Case) silentText(t *Try) Sentence {
	text, from := fmt.Sprintf("%s is bound to %s since %s, whose kubelet has said nothing of it", t.Pod, t.Node, c.clock(t.Placed.At)), marks(t.Placed, t.Newest)
	if n, ok := c.nodeOf(t, Mark{At: c.end()}); ok {
		text, from = text+": "+c.nodeWords(&n, t.Node), append(from, n.Mark)
	}
	return say(from, "%s; the kubelet starts it when it is back, or the pod is deleted", text)
}

// tooLong reports whether a wait does not end by itself.
func (c *Case) tooLong(w *Waiting) bool {
	bounds := map[string]time.Duration{"ContainerCreating": creating, "PodInitializing": initializing}
	bound, has := bounds[w.Reason]
	return slices.Contains(stuckWords, w.Reason) || has && c.end().Sub(w.From.At) >= bound
}

// sandboxTold is the shortest wait for which an answer says what the kubelet does before it creates containers. A
// healthy pod takes less.
const sandboxTold = 10 * time.Second

// unsaid says what the log lacks about a wait when neither its reason nor a record says what the pod waits for.
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

// within returns names in brackets; empty for none.
func within(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// ended0 returns the first of its regular containers that ended with 0; nil for none.
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

// atClock returns " at TIME"; empty for 0.
func (c *Case) atClock(t events.Time) string {
	if t == 0 {
		return ""
	}
	return " at " + c.clock(t)
}

// list returns names with a verb in the singular or plural.
func list(names []string, one, several string) string {
	if len(names) == 1 {
		return names[0] + " " + one
	}
	return strings.Join(names, ", ") + " " + several
}
