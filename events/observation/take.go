package observation

import "github.com/jobledger/jobledger/internal/wire/kubewire"

// takesLocked reports whether this controller runs (design §9) or observes the Job. A draining controller takes no new
// Job. It keeps the Jobs that it ran according to the log. It also takes Jobs that have begun, because the log may be
// lost, and their pods must be counted. The answer for the first version of a Job holds for the life of the process.
func (feed *Feed) takesLocked(job *kubewire.Job) bool {
	known := feed.jobs.known[job.UID]
	switch {
	case feed.settings.Observes(text(job.ManagedBy)):
		return true
	case !feed.mode.Manages(text(job.ManagedBy)):
		return false
	case !feed.draining:
		return true
	case known == nil:
		return begun(job)
	case known.fromLog:
		return known.ran || begun(job)
	}
	return known.managed
}

// begun reports whether a controller has worked on the Job. Only controllers write its status, which is empty before.
func begun(job *kubewire.Job) bool {
	s := &job.Status
	return s.StartTime != nil || len(s.Conditions) > 0 || s.Active > 0 || s.Succeeded > 0 || s.Failed > 0 ||
		s.UncountedTerminatedPods != nil
}

// notTaken logs that a new Job is not run here: another controller is named in managedBy, or this one is draining.
func (feed *Feed) notTaken(job *kubewire.Job) {
	if by := text(job.ManagedBy); !feed.mode.Manages(by) {
		feed.foreign(by)
		return
	}
	feed.log.Info("draining: a Job that has not begun is not taken", "job", job.Namespace+"/"+job.Name, "uid", job.UID)
}
