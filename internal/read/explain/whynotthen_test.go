package explain_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestWhyNotOfThen: of an instant that passed the answer goes by the schedule, the suspension and the deadline of then,
// as the ledger does, and not by those of now.
func TestWhyNotOfThen(t *testing.T) {
	for _, row := range []struct {
		name     string
		play     func(c *sceneCron)
		at       string
		says, no []string
	}{
		{"a schedule that was edited, and nothing was decided since: one of before", func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "", func(f *events.CronJobSeen) { f.Schedule = "*/7 * * * *" })
			c.node("09:08:00", "node-1", func(*events.NodeSeen) {})
		}, "09:03:00", []string{"is no due time of", "it was one until 2026-03-02 09:00:30"}, []string{"was a due time of"}},
		{"and one of now", func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "", func(f *events.CronJobSeen) { f.Schedule = "*/7 * * * *" })
			c.node("09:08:00", "node-1", func(*events.NodeSeen) {})
		}, "09:07:00", []string{"09:07 UTC was a due time of", `by its schedule "*/7 * * * *"`}, nil},
		{"and the nearest of then", func(c *sceneCron) {
			c.edit("08:59:40", "", func(f *events.CronJobSeen) { f.Schedule = "*/30 * * * *" })
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:40:00", "", func(f *events.CronJobSeen) { f.Schedule = "*/7 * * * *" })
			c.node("09:41:00", "node-1", func(*events.NodeSeen) {})
		}, "09:10:00", []string{"the nearest that are known: 2026-03-02 09:00 UTC and 2026-03-02 09:30 UTC"}, []string{"09:14"}},
		{"a deadline that was set before its fate was found", func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "", func(f *events.CronJobSeen) { f.Suspend = true })
			c.edit("09:03:10", "", func(f *events.CronJobSeen) { f.Suspend, f.Deadline = false, new(int64(90)) })
			c.ledger("09:03:10", "09:03:00", "", events.NotHeld, c.fate("09:01:00", "09:02:00", events.TickTooLate, nil), c.started("09:03:00", "b", 0))
			c.edit("09:03:20", "", func(f *events.CronJobSeen) { f.Deadline = new(int64(5)) })
		}, "09:01:00", []string{"too late: startingDeadlineSeconds is 90"}, []string{"is 5"}},
		{"suspended now, and not then", func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.ledger("09:02:00", "09:02:00", "", events.NotHeld, c.fate("09:01:00", "09:01:00", events.TickMerged, func(t *events.Tick) { t.Into = cronClock("09:02:00") }),
				c.started("09:02:00", "b", 0))
			c.edit("09:02:30", "", func(f *events.CronJobSeen) { f.Suspend = true })
		}, "09:01:00", []string{"merged into"}, []string{"suspended"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, true)
			c := l.cron("08:59:30", true, nil)
			row.play(c)
			hold(t, c.whyNot(row.at), row.says, row.no)
		})
	}
}
