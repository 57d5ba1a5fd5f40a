package cronjob

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// This file handles an edit of the schedule or time zone. The built-in controller does not evaluate the CronJob at once
// then. It sets a timer for the next due time (C-093). A timer that was set before stays, and the first one to fire
// counts (C-089). The timer also stays across a suspension (C-125), and when somebody writes a later lastScheduleTime.
// An edit while the controller is down goes unnoticed: at its start it sees only the new schedule.

// reschedules reports whether the observed schedule or time zone differs from the known one.
func (c *CronJob) reschedules(f *events.CronJobSeen) bool {
	return c.Known() && (f.Schedule != c.Seen.Schedule || !equalText(f.TimeZone, c.Seen.TimeZone))
}

// delays reports whether an observation moves the next due time to a later time: the CronJob is suspended now, or
// another client wrote a later lastScheduleTime. The pending wake-up then stays, as after an edit.
func (c *CronJob) delays(f *events.CronJobSeen) bool {
	return f.Suspend && !c.Seen.Suspend || c.Settings.RunsCronJobs() && f.LastSchedule > c.LastSchedule
}

// pending returns the next time at which the CronJob will be evaluated if nothing else changes; 0 for never.
func (c *CronJob) pending() events.Time {
	next := events.Time(0)
	switch waits := c.Pending > c.Now; {
	case c.Edited != 0 && waits:
	case c.Pass.Over:
		next = c.Retry().Until
	case c.Seen.Suspend || c.Seen.Deleted != 0 || c.plan.ZoneErr != nil || c.plan.Err != nil:
	default:
		next = c.nextLook()
	}
	return c.earlier(next)
}

// edit sets Edited and Pending after a change of the schedule. then is the evaluation that was pending before; 0 for
// never. A schedule that never matches is evaluated at once, because the built-in controller's delay is negative in
// that case.
func (c *CronJob) edit(then events.Time) {
	c.Pending = then
	if c.plan.Err == nil {
		next := c.nextLook()
		if next == 0 {
			return
		}
		c.Pending = c.earlier(next)
	}
	c.Edited = c.Now
}

// pendAnew recomputes Pending after a clock step. The next due time of a changed schedule is a point in time, not a
// duration: after a step back there may be an earlier due time (C-089).
func (c *CronJob) pendAnew() {
	if c.Edited == 0 || c.plan.Err != nil {
		return
	}
	if next := c.nextLook(); next != 0 && next < c.Pending {
		c.Pending = next
	}
}

// shifted moves a time by a clock step; 0 stays 0.
func shifted(t events.Time, step time.Duration) events.Time {
	if t == 0 {
		return 0
	}
	return t.Add(step)
}

func equalText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
