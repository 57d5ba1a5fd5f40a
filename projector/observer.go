package projector

import "github.com/jobledger/jobledger/events"

// Observed reports whether another controller runs the Job, and this one only looks at it. The settings of the run and the Job's
// own records say so. Of a Job that only its pods name nothing is known: with the mode that observes all Jobs it is observed.
func (j *Job) Observed() bool {
	if j.Settings.Mode == events.ModeObserve {
		return true
	}
	return j.Known() && j.Settings.Observes(j.ManagedBy)
}

// Observed reports whether the Job is only looked at. What is decided about a retired Job is its deletion, and that only where we
// run every Job.
func (r *Retired) Observed() bool { return r.Settings.Mode == events.ModeObserve }

// Observed reports whether the pods are only looked at.
func (s *Strays) Observed() bool { return s.held.Settings.Mode == events.ModeObserve }
