package rules

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler"
	"github.com/jobledger/jobledger/reconciler/cron"
	"github.com/jobledger/jobledger/reconciler/job"
)

// Decide returns what to do for subject s at the time of its newest record, and why. It depends only on s, so the same
// prefix of the log always gives the same decision.
func Decide(s projector.Subject) reconciler.Decision {
	j, is := s.(*projector.Job)
	return decide(s, s.Time(), is && j.Woken())
}

// DecideAt returns what to do for subject s at time now, and why. The loop uses it to find out whether a wait is over.
func DecideAt(s projector.Subject, now events.Time) reconciler.Decision { return decide(s, now, false) }

// DecideWoken returns what to do for subject s at time now, and why. In contrast to DecideAt it includes a status write
// that only shows progress (reconciler.Decision.Progress).
func DecideWoken(s projector.Subject, now events.Time) reconciler.Decision {
	return decide(s, now, true)
}

func decide(s projector.Subject, now events.Time, woken bool) reconciler.Decision {
	if c, ok := s.(*projector.CronJob); ok {
		return cron.Decide(c, now)
	}
	return job.Decide(s, now, woken)
}
