package projector

import "github.com/jobledger/jobledger/events"

// Observed reports whether the Job is only looked at. What is decided about a retired Job is its deletion, and that
// only where we run every Job.
func (r *Retired) Observed() bool { return r.Settings.Mode == events.ModeObserve }

// Observed reports whether the pods are only looked at.
func (s *Strays) Observed() bool { return s.held.Settings.Mode == events.ModeObserve }
