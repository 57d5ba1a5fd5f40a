package jobcase

import (
	"slices"

	"github.com/jobledger/jobledger/events"
)

// begun says what had happened to a Job before its first record, as this record shows. It is empty if the controller
// saw the Job right after its creation.
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
