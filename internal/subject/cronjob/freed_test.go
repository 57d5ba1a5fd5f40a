package cronjob_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
)

// TestWhichNamesACronJobWaitsFor: the one that its newest due time since the latest start gives (C-165).
func TestWhichNamesACronJobWaitsFor(t *testing.T) {
	name := func(n int) string { return fmt.Sprintf("a-%d", minute(n).Go().Unix()/60) }
	for _, row := range []struct {
		name  string
		other func(c *cronjob.CronJob)
		waits bool
	}{
		{name: name(7)}, {name: name(8)}, {name: name(9), waits: true}, {name: name(10)},
		{name: "b" + name(9)}, {name: "a-0" + name(9)[2:]}, {name: "a-+" + name(9)[2:]}, {name: name(9) + "x"}, {name: "a-"}, {name: ""},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Seen.Schedule = "*/2 * * * *" }},
		{name: name(8), other: func(c *cronjob.CronJob) { c.Seen.Schedule = "*/2 * * * *" }, waits: true},
		{name: name(8), other: func(c *cronjob.CronJob) { c.Seen.Schedule, c.LastSchedule = "*/2 * * * *", minute(8) }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Seen.Schedule = "60 * * * *" }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Seen.TimeZone = new("Nowhere/Nothing") }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Seen.Suspend = true }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Seen.Deleted = minute(6) }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Gone = true }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Seen.Version = 0 }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Settings.CronJobs = false }},
		{name: name(9), other: func(c *cronjob.CronJob) { c.Settings.Mode = events.ModeObserve }},
	} {
		c := told(t)
		c.Ref, c.LastSchedule = events.JobRef{Namespace: "prod", Name: "a"}, minute(5)
		c.Seen.Version, c.Settings.CronJobs, c.Settings.Mode = 1, true, events.ModeAll
		c.Seen.Schedule = "* * * * *"
		if row.other != nil {
			row.other(c)
		}
		c.Replan()
		if waits := c.WaitsFor(row.name, minute(9)); waits != row.waits {
			t.Errorf("%q, %+v: waits %t", row.name, c.Seen, waits)
		}
	}
}
