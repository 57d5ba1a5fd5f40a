package cronjob

import (
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// A Job that is not the CronJob's may have the name of a Job that is due (C-160). The due time is then refused, and
// stays the latest one: it can start as soon as that Job is gone (C-165).

// WaitsFor reports whether the newest due time since the latest start gives a Job this name. Older ones start no more.
func (c *CronJob) WaitsFor(name string, now events.Time) bool {
	suffix, ok := strings.CutPrefix(name, c.Ref.Name+"-")
	minute, err := strconv.ParseInt(suffix, 10, 64)
	switch {
	case !ok, err != nil, suffix != strconv.FormatInt(minute, 10), !c.Known(), c.Gone, c.Seen.Deleted != 0, c.Seen.Suspend, c.Observed(),
		c.plan.Err != nil, c.plan.ZoneErr != nil:
		return false
	}
	due, err := c.plan.Schedule.Due(c.Anchor().Go(), now.Go())
	return err == nil && !due.At.IsZero() && minute == minuteOf(events.At(due.At))
}
