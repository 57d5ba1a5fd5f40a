package informer

import "github.com/jobledger/jobledger/internal/wire/kubewire"

// takesLocked reports whether this controller is to run the Job (design §9), or to observe it. One that drains takes no
// new Job. It goes on with those that the log says it ran. It also takes those that have begun, because a log can be
// lost: their pods are to be counted. What it finds when it first sees a Job holds as long as the process.
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

// begun reports whether a controller has worked on the Job: its status is empty until then, and only a controller
// writes there.
func begun(job *kubewire.Job) bool {
	s := &job.Status
	return s.StartTime != nil || len(s.Conditions) > 0 || s.Active > 0 || s.Succeeded > 0 || s.Failed > 0 ||
		s.UncountedTerminatedPods != nil
}

// notTaken tells of a Job that appears and is not ours.
func (feed *Feed) notTaken(job *kubewire.Job) {
	if by := text(job.ManagedBy); !feed.mode.Manages(by) {
		feed.foreign(by)
		return
	}
	feed.log.Info("draining: a Job that has not begun is not taken", "job", job.Namespace+"/"+job.Name, "uid", job.UID)
}
