package explain

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// begun says what had happened before the first record of a Job, judging by that record; empty for nothing. A
// controller that sees the Job's creation finds nothing.
func begun(f *events.JobSeen) string {
	s := f.Status
	switch {
	case s != nil && slices.ContainsFunc(s.Conditions, isEnd):
		return "it had ended"
	case f.Deleted != 0:
		return "it was being deleted"
	case s != nil && (s.StartTime != 0 || max(s.Active, s.Terminating, s.Succeeded, s.Failed) > 0 || len(s.UncountedSucceeded)+len(s.UncountedFailed) > 0):
		return "it had begun"
	case f.Generation > 1:
		return "its spec had been changed"
	}
	return ""
}

func isEnd(k events.JobCondition) bool {
	_, is := ends[k.Type]
	return is && k.Status == "True"
}

// begunBefore returns begun, unless a gap already says that nobody watched before the first record.
func (c *Case) begunBefore() string {
	if slices.ContainsFunc(c.touching(), func(g *history.Gap) bool { return g.From == 0 }) {
		return ""
	}
	return c.begun
}

// statusSays says that only the status shows the Job's end, if no decision of ours in the log does. Everyone with write
// access to the status can set it, and the writer is not recorded.
func (c *JobCase) statusSays(s *settling) string {
	text := "its status says so"
	doubted := c.doubt(s) != "" // then that was said
	switch {
	case !c.oursAt(s.Seen) && doubted:
		return "the Job is " + c.controller() + "'s"
	case !c.oursAt(s.Seen):
		text += " (the Job is " + c.controller() + "'s)"
	case c.oursUntil(s.Seen) && !c.decided[s.Reason] && c.added.Record != 0 && c.damage == 0 && c.resumed == 0 && len(c.touching()) == 0:
		text += " (it was no decision of Jobledger's)"
	}
	if s.Same {
		text += ", and rule " + s.Rule + " agrees"
	}
	return text
}
