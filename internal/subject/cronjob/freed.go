package cronjob

import (
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// This file handles a due time whose Job cannot be created because an object of another owner has the Job's name
// (C-160). It is recorded as Refused. It can still start once that object is gone, as long as no later due time has
// come (C-165).

// WaitsFor reports whether the CronJob creates a Job with this name as soon as the name is free: it is the name for the
// latest due time. Earlier due times do not start any more.
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
