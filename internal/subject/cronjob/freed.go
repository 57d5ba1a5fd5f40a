package cronjob

import (
	"strconv"
	"strings"

	"github.com/jobledger/jobledger/events"
)

// A Job that is not the CronJob's may have the name of a Job that is due (C-160). The due time is then refused, and
// stays the latest one: it can start as soon as that Job is gone (C-165).

// WaitsFor reports whether a due time from the latest start until now gives a Job this name.
func (c *CronJob) WaitsFor(name string, now events.Time) bool {
	suffix, ok := strings.CutPrefix(name, c.Ref.Name+"-")
	minute, err := strconv.ParseInt(suffix, 10, 64)
	switch {
	case !ok, err != nil, suffix != strconv.FormatInt(minute, 10), !c.Known(), c.Gone, c.Seen.Deleted != 0, c.Seen.Suspend, c.Observed():
		return false
	}
	return minute >= minuteOf(c.Anchor()) && minute <= minuteOf(now)
}
