package cronjob

import (
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// An object that is not the CronJob's may have the name of a Job that is due (C-160). The due time then gets the fate
// Refused. It can still start once that object is gone, as long as no later due time has come (C-165).

// WaitsFor reports whether the latest due time gives its Job this name, so that it can start when the name is free.
// Earlier due times do not start any more.
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
