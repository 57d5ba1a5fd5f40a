package projector

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// The built-in controller does not look at a CronJob whose schedule or zone was changed, but sets itself a time to do
// so: when it is due next (C-093). What it had set before stays, and the first of all comes (C-089); so it stays when
// the CronJob is suspended (C-125). It sees no change in what it finds when it starts.

// reschedules reports whether the schedule or the zone is another one than was seen before.
func (c *CronJob) reschedules(f *events.CronJobSeen) bool {
	return c.Known() && (f.Schedule != c.Seen.Schedule || !equalText(f.TimeZone, c.Seen.TimeZone))
}

// suspends reports whether it is suspended now and was not before. When it was to be looked at stays, as after an edit.
func (c *CronJob) suspends(f *events.CronJobSeen) bool {
	return c.Known() && f.Suspend && !c.Seen.Suspend
}

// pending is when the CronJob is looked at again if nothing happens; 0 for never.
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

// edit notes that the schedule was changed, now. Before that the CronJob was to be looked at then, which may be never.
// One whose schedule never matches is looked at right away: the built-in's delay is less than nothing then.
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

// pendAnew finds when a changed schedule is due next, after the clock was set. That is a time of the clock, and no
// length of time: what the clock has passed is over, and after it was set back there may be an earlier one (C-089).
func (c *CronJob) pendAnew() {
	if c.Edited == 0 || c.plan.Err != nil {
		return
	}
	if next := c.nextLook(); next != 0 && next < c.Pending {
		c.Pending = next
	}
}

// shifted moves a time with the clock; 0 stays.
func shifted(t events.Time, step time.Duration) events.Time {
	if t == 0 {
		return 0
	}
	return t.Add(step)
}

func equalText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
