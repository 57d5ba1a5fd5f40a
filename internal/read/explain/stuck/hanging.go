package stuck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/say/words"
)

// How long a pod may take for each step before it counts as stuck.
const (
	// stopSlack is the time that a pod may need after its grace period: the kubelet kills it, unmounts its volumes and
	// deletes it.
	stopSlack = 30 * time.Second
	silence   = time.Minute     // from its node's assignment to the first report of the kubelet
	creating  = 5 * time.Minute // to pull images, mount volumes and create containers (ContainerCreating)

	// initializing is the time for PodInitializing: init containers end, sidecars start, and later images are pulled.
	// An init container often waits for a database or migrates a schema, so this is creating (5 minutes) plus 10
	// minutes.
	initializing = 15 * time.Minute
)

// hanging returns the pods that are being deleted and still exist more than 30 s (stopSlack) after their grace period.
func hanging(c *jobcase.Case) (out []*try.Try) {
	for _, t := range c.Tries {
		if t.AskedSeen.Record != 0 && !t.Over() && c.End() > t.StopsAt().Add(stopSlack) {
			out = append(out, t)
		}
	}
	return out
}

// hangs says since when pod t, which does not stop, is being deleted, on which node, and what will end this.
func hangs(c *jobcase.Case, t *try.Try) explain.Sentence {
	text := fmt.Sprintf("%s%s is being deleted since %s", t.Pod, try.On(t.Node), c.Clock(t.AskedSeen.At))
	from := explain.Marks(t.AskedSeen, t.GraceBy, t.Newest)
	if t.Node == "" {
		return explain.Say(from, "%s, and is there still", text)
	}
	if t.Grace != nil && *t.Grace > 0 {
		text += fmt.Sprintf(" (given %s)", words.Span(explain.Seconds(*t.Grace)))
	}
	text += ", and its kubelet has not ended it"
	if n, ok := c.NodeOf(t, explain.Mark{At: c.End()}); ok {
		text, from = text+": "+c.NodeWords(&n, t.Node), append(from, n.Mark)
	}
	return explain.Say(from, "%s; it ends when its kubelet does so, or by a deletion by force", text)
}

// hangWord returns the name of the first pod that does not stop, and how many more there are.
func hangWord(all []*try.Try) string {
	text := all[0].Pod + try.On(all[0].Node)
	if len(all) > 1 {
		return fmt.Sprintf("%s and %s do not stop", text, words.Count(len(all)-1, "other pod"))
	}
	return text + " does not stop"
}

// Stopping says whether the pods of an ending Job are gone, are stopping, or do not stop. If a pod does not stop, it
// returns the record of its deletion.
func Stopping(c *jobcase.Case) (text string, from explain.Mark) {
	if all := hanging(c); len(all) > 0 {
		return fmt.Sprintf("%s (being deleted since %s)", hangWord(all), c.Clock(all[0].AskedSeen.At)), all[0].AskedSeen
	}
	if !slices.ContainsFunc(c.Tries, func(t *try.Try) bool { return !t.Over() }) {
		return "none of its pods is left", explain.Mark{}
	}
	return "its pods are being stopped", explain.Mark{}
}

// silent returns the pods that have had a node for at least a minute (silence), while the node's kubelet has reported
// nothing about them.
func silent(c *jobcase.Case) (out []*try.Try) {
	// If the namespace was over its log budget, the kubelet's report may have come without a record: name no pod.
	if len(c.Passed.Touching(c.Job.Namespace, false, c.Start(), c.End())) > 0 {
		return nil
	}
	for _, t := range c.Tries {
		if t.Placed.Record != 0 && !t.Heard && !t.Stated && !t.Over() && t.AskedSeen.Record == 0 &&
			c.End().Sub(t.Placed.At) >= silence {
			out = append(out, t)
		}
	}
	return out
}

// silentText says since when the kubelet has been silent about a pod, on which node, and what will end this.
func silentText(c *jobcase.Case, t *try.Try) explain.Sentence {
	text, from := fmt.Sprintf("%s is bound to %s since %s, whose kubelet has said nothing of it", t.Pod, t.Node,
		c.Clock(t.Placed.At)), explain.Marks(t.Placed, t.Newest)
	if n, ok := c.NodeOf(t, explain.Mark{At: c.End()}); ok {
		text, from = text+": "+c.NodeWords(&n, t.Node), append(from, n.Mark)
	}
	return explain.Say(from, "%s; the kubelet starts it when it is back, or the pod is deleted", text)
}

// tooLong reports whether wait w will not end by itself: its reason never passes by itself (try.StuckWords), or it has
// lasted longer than such waits may take.
func tooLong(c *jobcase.Case, w *try.Waiting) bool {
	bounds := map[string]time.Duration{"ContainerCreating": creating, "PodInitializing": initializing}
	bound, has := bounds[w.Reason]
	return try.StuckWords[w.Reason] || has && c.End().Sub(w.From.At) >= bound
}

// sandboxTold is how long a wait must last before an answer says what the kubelet does before it creates containers.
// Healthy pods are faster.
const sandboxTold = 10 * time.Second

// unsaid says what the log lacks about wait w, if neither its reason nor a record says what the pod waits for.
func unsaid(c *jobcase.Case, w *try.Waiting) string {
	switch {
	case w.Sandbox != events.SandboxUnsaid && c.End().Sub(w.From.At) < sandboxTold:
		return ""
	case w.Sandbox == events.SandboxNone:
		return "; volumes are mounted before it has a sandbox: 'kubectl describe pod' shows its Events, which are not read"
	case w.Sandbox == events.SandboxReady:
		return "; it has a sandbox, so its images are pulled: 'kubectl describe pod' shows its Events, which are not read"
	case w.Sandbox != events.SandboxUnsaid: // in the other states, the message of the wait says what it waits for
		return ""
	case w.Reason == "ContainerCreating" && tooLong(c, w):
		return "; missing: what its kubelet waits for (a volume, a Secret, the network): only its Events tell it, and they are not read"
	case w.Reason == "PodInitializing" && w.Message == "":
		_, template := c.FirstSpec()
		return fmt.Sprintf("; missing: which of its init containers%s runs or waits, or which image behind them: it is not recorded before they end", within(jobcase.Initials(template)))
	}
	return ""
}

// within returns names in brackets: " (a, b)"; empty if there are none.
func within(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}
