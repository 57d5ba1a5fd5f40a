package explain

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// cause is that of the Job's trouble, in words that are equal for Jobs that fared alike, and for no others: an exit
// code alone, or a reason alone, joins what has nothing to do with each other. So it has the words of the program or
// the server, and the object that they are about.
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

// settledReason is why the Job ended, where that is more than the failures of its pods.
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

// causeOf is how a try failed.
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

// exitCause is how its program ended: with its words those of the program, without them the work, as any program may
// exit with 1.
func (c *Case) exitCause(t *Try) string {
	text := exitText(t)
	for _, k := range failures(t.Containers) {
		if k.Message != "" {
			return text + ": " + c.likened(k.Message)
		}
	}
	return text + " of " + c.work()
}

// crashes is how containers ended that were started again; empty for none.
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

// work names what the Job does: its CronJob, or its own name without what makes each run another.
func (c *Case) work() string {
	if c.origin != nil && c.origin.Kind != "" {
		return c.Job.Namespace + "/" + c.origin.Kind + "/" + c.origin.Name
	}
	if c.origin != nil && c.origin.GenerateName != "" {
		return c.Job.Namespace + "/" + c.origin.GenerateName
	}
	return c.Job.Namespace + "/" + c.Job.Name
}

// heldUp is what kept the pods of a Job waiting that never ran: the word of the scheduler, of a kubelet or of the API
// server, and what it says.
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

// stuckCause is that of a Job that is stuck.
func (c *Case) stuckCause(x *stuckness) string {
	return cmp.Or(x.cause, c.heldUp(), c.crashes(), x.text)
}

var (
	numbers = regexp.MustCompile(`\d+`)
	suffix  = `(-\d+)?(-[a-z0-9]{5})?\b`
)

// likened is a text without what makes it another for each pod and each Job: their names, and numbers.
func (c *Case) likened(text string) string { return liken(text, c.Job.Name) }

func liken(text, job string) string { return numbers.ReplaceAllString(unnamed(text, job), "#") }

// unnamed is a text without the names of a Job and its pods.
func unnamed(text, job string) string {
	if job == "" {
		return text
	}
	return regexp.MustCompile(regexp.QuoteMeta(job)+suffix).ReplaceAllString(text, "*")
}
