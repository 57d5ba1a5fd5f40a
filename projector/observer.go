package projector

import "github.com/jobledger/jobledger/events"

// Observed reports whether another controller runs all Jobs, so that we do not delete the retired Job (finished,
// without work left). In other modes it returns false: the only decision about a retired Job is its deletion, and that
// is made only for Jobs that we run.
func (r *Retired) Observed() bool { return r.Settings.Mode == events.ModeObserve }

// Observed reports whether another controller runs all Jobs, so that we only watch these pods.
func (s *Strays) Observed() bool { return s.held.Settings.Mode == events.ModeObserve }
