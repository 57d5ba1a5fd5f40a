package explain

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// cause names the cause of the Job's trouble. Jobs with the same cause, and only those, get equal words. An exit code
// or a reason alone would join unrelated Jobs, so the text includes the message of the program or the server, and the
// object it is about.
func (c *Case) cause() string {
	parts := []string{c.settledReason()}
	switch failed := c.failedTries(); {
	case len(failed) > 0:
		parts = append(parts, c.causeOf(failed[0]))
	case len(c.crashes()) > 0:
		parts = append(parts, c.crashes())
	case c.settled != nil && len(c.heldUp()) > 0:
		parts = append(parts, c.heldUp())
	default:
		parts = append(parts, c.work())
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// settledReason returns the reason of the Job's end; empty if that is only the failures of its pods.
func (c *Case) settledReason() string {
	reason := c.Job.Reason
	if c.settled != nil {
		reason = c.settled.Reason
	}
	switch reason {
	case "BackoffLimitExceeded", "CompletionsReached", "FailedIndexes":
		return ""
	}
	return reason
}

// causeOf returns how a try failed.
func (c *Case) causeOf(t *Try) string {
	e := c.ending(t)
	switch {
	case e.By.own():
		return c.exitCause(t)
	case e.By.Disruption() && t.Node != "" && e.By != ByEviction && e.By != ByPreemption:
		return string(e.By) + " of " + t.Node + ": " + c.likened(e.Why)
	case t.forced:
		return string(e.By) + ", by force, of " + c.work()
	case e.By == ByClient || e.By == ByUnknown: // several clients may delete pods
		return string(e.By) + ": " + c.likened(e.Why) + " of " + c.work()
	}
	return string(e.By) + ": " + c.likened(e.Why)
}

// exitCause returns how the try's program ended, with the program's message. Without a message it names the work: any
// program may exit with 1.
func (c *Case) exitCause(t *Try) string {
	text := exitText(t)
	for _, k := range failures(t.Containers) {
		if k.Message != "" {
			return text + ": " + c.likened(k.Message)
		}
	}
	return text + " of " + c.work()
}

// crashes returns how restarted containers ended; empty for none.
func (c *Case) crashes() string {
	for _, t := range c.Tries {
		if len(t.Crashed) == 0 {
			continue
		}
		k := &t.Crashed[0]
		if k.Message != "" {
			return exitOf(k) + ": " + c.likened(k.Message)
		}
		return exitOf(k) + " of " + c.work()
	}
	return ""
}

// work names the Job's work: its CronJob, its generateName, or its own name.
func (c *Case) work() string {
	if c.origin != nil && c.origin.Kind != "" {
		return c.Job.Namespace + "/" + c.origin.Kind + "/" + c.origin.Name
	}
	if c.origin != nil && c.origin.GenerateName != "" {
		return c.Job.Namespace + "/" + c.origin.GenerateName
	}
	return c.Job.Namespace + "/" + c.Job.Name
}

// heldUp returns why pods that never ran waited: the reason and message of the scheduler, a kubelet or the API server.
// It is empty if no pod waited so.
func (c *Case) heldUp() string {
	for _, t := range c.Tries {
		for i := len(t.Waits) - 1; i >= 0 && t.Started.Record == 0; i-- {
			if w := &t.Waits[i]; slices.Contains(stuckWords, w.Reason) {
				return w.Reason + ": " + c.likened(w.Message)
			}
		}
	}
	for _, x := range c.refusals {
		if x.Class.Passing() {
			return x.Class.String() + ": " + c.likened(x.Says)
		}
	}
	return ""
}

// stuckCause returns the cause of a stuck Job.
func (c *Case) stuckCause(x *stuckness) string {
	return cmp.Or(x.cause, c.heldUp(), c.crashes(), x.text)
}

var (
	numbers = regexp.MustCompile(`\d+`)
	suffix  = `(-\d+)?(-[a-z0-9]{5})?\b`
)

// likened replaces the names of the Job and its pods with "*" and numbers with "#", so that texts of different pods and
// Jobs are equal: "pod a-x2x7k took 30s" becomes "pod * took #s".
func (c *Case) likened(text string) string { return liken(text, c.Job.Name) }

func liken(text, job string) string { return numbers.ReplaceAllString(unnamed(text, job), "#") }

// unnamed replaces the names of a Job and its pods in a text with "*".
func unnamed(text, job string) string {
	if job == "" {
		return text
	}
	return regexp.MustCompile(regexp.QuoteMeta(job)+suffix).ReplaceAllString(text, "*")
}
