package failures

import (
	"cmp"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/internal/read/explain/ending"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
)

// cause returns a text for what put the Job into trouble. The text is equal for Jobs with the same cause, and only for
// those. An exit code alone would join unrelated Jobs, so the text also has the message of the program or of the API
// server, and names the object it is about.
func cause(c *jobcase.Case) string {
	if _, text := ofNode(c); text != "" {
		return text
	}
	parts := []string{settledReason(c)}
	switch failed := ending.FailedTries(c); {
	case len(failed) > 0:
		parts = append(parts, causeOf(c, failed[0]))
	case len(crashes(c)) > 0:
		parts = append(parts, crashes(c))
	case c.Settled != nil && len(heldUp(c)) > 0:
		parts = append(parts, heldUp(c))
	default:
		parts = append(parts, work(c))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// settledReason returns the reason in the Job's final condition (Complete or Failed). It is empty for a reason that
// only says that pods failed.
func settledReason(c *jobcase.Case) string {
	reason := c.Job.Reason
	if c.Settled != nil {
		reason = c.Settled.Reason
	}
	switch reason {
	case "BackoffLimitExceeded", "CompletionsReached", "FailedIndexes":
		return ""
	}
	return reason
}

// causeOf returns a text for how try t (a pod) failed, equal for pods that failed in the same way.
func causeOf(c *jobcase.Case, t *try.Try) string {
	e := ending.Of(c, t)
	switch {
	case e.By.Own():
		return exitCause(c, t)
	case e.By.Disruption() && t.Node != "" && e.By != try.ByEviction && e.By != try.ByPreemption:
		return string(e.By) + " of " + t.Node + ": " + c.Likened(e.Why)
	case t.Forced:
		return string(e.By) + ", by force, of " + work(c)
	case e.By == try.ByClient || e.By == try.ByUnknown: // several clients may have deleted pods, so name the work
		return string(e.By) + ": " + c.Likened(e.Why) + " of " + work(c)
	}
	return string(e.By) + ": " + c.Likened(e.Why)
}

// exitCause returns a text for how the program of try t (a pod) ended, with the program's message. Without a message,
// it names the recurring work instead, because any program may exit with 1.
func exitCause(c *jobcase.Case, t *try.Try) string {
	text := try.ExitText(t)
	for _, k := range try.Failures(t.Containers) {
		if k.Message != "" {
			return text + ": " + c.Likened(k.Message)
		}
	}
	return text + " of " + work(c)
}

// crashes returns how containers of the Job had ended before they were restarted; empty if none was.
func crashes(c *jobcase.Case) string {
	for _, t := range c.Tries {
		if len(t.Crashed) == 0 {
			continue
		}
		k := &t.Crashed[0]
		if k.Message != "" {
			return try.ExitOf(k) + ": " + c.Likened(k.Message)
		}
		return try.ExitOf(k) + " of " + work(c)
	}
	return ""
}

// work names the Job's recurring work: its CronJob, its generateName, or its own name.
func work(c *jobcase.Case) string {
	if c.Origin != nil && c.Origin.Kind != "" {
		return c.Job.Namespace + "/" + c.Origin.Kind + "/" + c.Origin.Name
	}
	if c.Origin != nil && c.Origin.GenerateName != "" {
		return c.Job.Namespace + "/" + c.Origin.GenerateName
	}
	return c.Job.Namespace + "/" + c.Job.Name
}

// heldUp returns what pods waited for that never ran: the reason and the message of the scheduler, a kubelet or the API
// server. It is empty if each pod ran.
func heldUp(c *jobcase.Case) string {
	for _, t := range c.Tries {
		for i := len(t.Waits) - 1; i >= 0 && t.Started.Record == 0; i-- {
			if w := &t.Waits[i]; try.StuckWords[w.Reason] {
				return w.Reason + ": " + c.Likened(w.Message)
			}
		}
	}
	for _, x := range c.Refusals {
		if x.Class.Passing() {
			return x.Class.String() + ": " + c.Likened(x.Says)
		}
	}
	return ""
}

// stuckCause returns a text for the cause of a stuck Job; x says why it is stuck.
func stuckCause(c *jobcase.Case, x *stuck.Stuckness) string {
	return cmp.Or(x.Cause, heldUp(c), crashes(c), x.Text)
}
