package incidents

import (
	"context"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/internal/recorded"
)

// keep keeps the log of a recording. The controller must have stopped.
func (r *recording) keep(ctx context.Context, to string) error {
	settings := events.DefaultSettings()
	switch r.mode {
	case delegated:
		settings.Mode = events.ModeDelegated
	case observed:
		settings.Mode = events.ModeObserve
	case cronsObserved, situationsObserved:
		settings.Mode, settings.CronJobs = events.ModeObserve, true
	case cronsRun:
		settings.Mode, settings.CronJobs = events.ModeAll, true
	case situationsRun:
		settings.Mode, settings.CronJobs, settings.DeleteExpired = events.ModeAll, true, true
	}
	return recorded.Keep(ctx, r.ours.Log(), r.kubeconfig, &settings, to)
}
