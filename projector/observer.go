package projector

import "github.com/jobledger/jobledger/events"

// Observed reports whether the Job is only observed. The only decision about a retired Job is its deletion, and that
// happens only in the mode in which we run every Job.
func (r *Retired) Observed() bool { return r.Settings.Mode == events.ModeObserve }

// Observed reports whether the pods are only observed.
func (s *Strays) Observed() bool { return s.held.Settings.Mode == events.ModeObserve }
