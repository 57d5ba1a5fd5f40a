package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/history"
	"github.com/jobledger/jobledger/internal/words"
)

// verdict is the answer in one line.
func (c *Case) verdict() Sentence {
	switch c.Job.State {
	case history.StateFailed:
		return say(c.settledMarks(), "FAILED after %s: %s", c.tookText(), c.failedBecause())
	case history.StateComplete:
		return say(c.settledMarks(), "COMPLETE after %s%s", c.tookText(), c.survived())
	case history.StateFailing:
		return say(c.settledMarks(), "FAILING: %s; its pods are being stopped", c.failedBecause())
	case history.StateDeleted, history.StateDeleting:
		return c.deletedVerdict()
	case history.StateUnseen:
		return say(nil, "UNSEEN: the log knows it only from pods that name it")
	case history.StateUnmanaged:
		return say(marks(c.added), "NOT MANAGED here: %s runs it", c.controller())
	case history.StateSuspended:
		return say(marks(c.suspendedSince()), "SUSPENDED for %s", words.Span(c.end().Sub(c.suspendedSince().At)))
	}
	return c.livingVerdict()
}

func (c *Case) settledMarks() []Mark {
	if c.settled == nil {
		return nil
	}
	return marks(c.settled.Decided, c.settled.Stored)
}

// failedBecause says why the Job failed: what its tries did, and the limit that they met.
func (c *Case) failedBecause() string {
	s := c.settled
	if s == nil {
		return words.Because(c.Job.Reason, c.Job.Message)
	}
	failed := c.failedTries()
	switch s.Reason {
	case "BackoffLimitExceeded":
		if len(failed) == 0 || c.Spec == nil {
			return c.numbers(s)
		}
		return fmt.Sprintf("%s; backoffLimit is %d", c.triesText(failed), backoffLimit(c.Spec))
	case "DeadlineExceeded":
		text := c.numbers(s)
		if i := strings.Index(text, " passed"); i > 0 {
			text = text[:i] + " passed"
		}
		if n := c.running(); n > 0 {
			text += fmt.Sprintf("; %s stopped", words.Count(n, "pod"))
		}
		return text
	case "FailedIndexes", "MaxFailedIndexesExceeded":
		text := c.numbers(s)
		if len(failed) > 0 {
			text += "; " + c.triesText(failed)
		}
		return text
	case "PodFailurePolicy":
		if t := c.settledBy(); t != nil {
			return fmt.Sprintf("%s of %s%s; a rule of the podFailurePolicy fails the Job for it", c.howEnded(t), t.Pod, indexText(t))
		}
	}
	return c.numbers(s)
}

func indexText(t *Try) string {
	if t.Index == events.NoIndex {
		return ""
	}
	return fmt.Sprintf(" (index %d)", t.Index)
}

// settledBy is the try whose end settled how the Job ends; nil for none.
func (c *Case) settledBy() *Try {
	trigger := c.trigger(c.settled)
	for _, t := range c.Tries {
		if len(trigger) > 0 && t.end().Record == trigger[0].Record {
			return t
		}
	}
	return nil
}

// running is how many tries were stopped when it was settled that the Job fails.
func (c *Case) running() int {
	n := 0
	for _, t := range c.Tries {
		if t.failed() && c.stopped(t) {
			n++
		}
	}
	return n
}

// triesText sums up how tries failed: "all 3 tries ended with main exit 3".
func (c *Case) triesText(failed []*Try) string {
	how := map[string]int{}
	for _, t := range failed {
		how[c.howEnded(t)]++
	}
	first := c.howEnded(failed[0])
	all := "all"
	if len(failed) < len(c.Tries) {
		all = fmt.Sprintf("%d of", len(failed))
	}
	switch {
	case len(failed) == 1 && len(c.Tries) == 1:
		return "its only try: " + first
	case len(how) == 1:
		return fmt.Sprintf("%s %d tries: %s", all, len(c.Tries), first)
	}
	return fmt.Sprintf("%d of %d tries failed (%s)", len(failed), len(c.Tries), shares(how, len(failed)))
}

// survived says what a Job came through.
func (c *Case) survived() string {
	failed := c.failedTries()
	if len(failed) == 0 {
		return ""
	}
	disruptions := 0
	for _, t := range failed {
		if c.ending(t).By.Disruption() {
			disruptions++
		}
	}
	text := fmt.Sprintf("; %s on the way", words.Count(len(failed), "failure"))
	switch {
	case disruptions == 0:
	case len(failed) == 1:
		text += ", a disruption"
	case disruptions == len(failed):
		text += ", none of them of the program"
	default:
		text += fmt.Sprintf(", %d of them disruptions", disruptions)
	}
	return text
}

func (c *Case) deletedVerdict() Sentence {
	what := "before any pod ran"
	for _, t := range c.Tries {
		if t.Started.Record != 0 || t.began() != 0 {
			what = "before it ended"
		}
	}
	if slices.ContainsFunc(c.Tries, func(t *Try) bool { return t.Started.Record != 0 && t.Ended.Record == 0 }) {
		what = "while it ran"
	}
	word := "DELETED"
	if c.Job.State == history.StateDeleting {
		word = "BEING DELETED"
	}
	removal, _ := c.removal()
	by := removal.Text
	if i := strings.Index(by, " by "); i >= 0 {
		by = by[i:]
	} else {
		by = ""
	}
	if by != "" {
		by = "," + by
	}
	return say(marks(c.deletion()), "%s after %s, %s%s", word, words.Span(max(c.deletion().At.Sub(c.start()), 0)), what, by)
}

func (c *Case) suspendedSince() Mark {
	for i := len(c.edits) - 1; i >= 0; i-- {
		if c.edits[i].After.Suspend && !c.edits[i].Before.Suspend {
			return c.edits[i].At
		}
	}
	return c.added
}
