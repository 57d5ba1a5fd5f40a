package jobcase

import (
	"slices"

	"github.com/jobledger/jobledger/events"
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
	case s != nil && (s.StartTime != 0 || max(s.Active, s.Terminating, s.Succeeded, s.Failed) > 0 ||
		len(s.UncountedSucceeded)+len(s.UncountedFailed) > 0):
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
