package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/say/words"
)

// ticksWhy is why each due time fared so that does not fare well, by its time of day.
func (c *sceneCron) ticksWhy() map[string]string {
	c.t.Helper()
	due, err := duetimes.Read(c.t.Context(), c.source(), c.of)
	if err != nil {
		c.t.Fatal(err)
	}
	gaps, err := history.AllGaps(c.t.Context(), c.source())
	if err != nil {
		c.t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range due.All() {
		out[e.First.Go().Format("15:04")] = fates.TickWhy(due, &e, gaps, words.Zone{})
	}
	return out
}

// TestWhyADueTimeFaredSo: what held a due time back, where the log proves it. Where nothing does, nothing is said.
func TestWhyADueTimeFaredSo(t *testing.T) {
	merged := func(c *sceneCron, due, into string) events.Tick {
		return c.fate(due, due, events.TickMerged, func(t *events.Tick) { t.Into = cronClock(into) })
	}
	for _, row := range []struct {
		name string
		ours bool
		play func(c *sceneCron)
		want map[string]string // what it contains; empty for nothing
	}{
		{"the policy", true, func(c *sceneCron) {
			c.edit("08:59:50", "", func(f *events.CronJobSeen) { f.Policy = "Forbid" })
			c.runs("09:00:00", "09:00:00", "a", nil)
			c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "a", 0))
			c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
			c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
			c.ledger("09:02:00", "09:01:00", "09:02:00", events.HeldForbid, merged(c, "09:01:00", "09:02:00"))
			c.ends("09:02:30", "09:00:00", "09:00:00", "a", events.ResultComplete)
			c.runs("09:02:31", "09:02:00", "b", nil)
			c.ledger("09:02:31", "09:02:00", "", events.NotHeld, c.started("09:02:00", "b", 31*time.Second))
		}, map[string]string{"09:00": "", "09:01": "report-a had not ended, and the policy is Forbid", "09:02": "report-a had not ended, and the policy is Forbid"}},
		{"suspended, and the deadline", true, func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "kubectl-patch", func(f *events.CronJobSeen) { f.Suspend = true })
			c.edit("09:03:10", "", func(f *events.CronJobSeen) { f.Suspend, f.Deadline = false, new(int64(90)) })
			c.ledger("09:03:10", "09:03:00", "", events.NotHeld, c.fate("09:01:00", "09:01:00", events.TickTooLate, nil), merged(c, "09:02:00", "09:03:00"),
				c.started("09:03:00", "b", 10*time.Second))
			c.runs("09:03:11", "09:03:00", "b", nil)
		}, map[string]string{
			"09:01": "startingDeadlineSeconds is 90; the CronJob was suspended at 2026-03-02 09:00:30 (field manager kubectl-patch)",
			"09:02": "the CronJob was suspended at 2026-03-02 09:00:30 (field manager kubectl-patch)", "09:03": "the CronJob was suspended from",
		}},
		{"nothing that is recorded", true, func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.ledger("09:02:05", "09:02:00", "", events.NotHeld, merged(c, "09:01:00", "09:02:00"), c.started("09:02:00", "b", 5*time.Second))
			c.runs("09:02:05", "09:02:00", "b", nil)
		}, map[string]string{"09:01": "", "09:02": ""}},
		{"no controller", true, func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.listed("09:03:10", "09:00:30", func() {})
			c.ledger("09:03:10", "09:03:00", "", events.NotHeld, c.fate("09:01:00", "09:02:00", events.TickUnwatched, nil), c.started("09:03:00", "b", 10*time.Second))
			c.runs("09:03:11", "09:03:00", "b", nil)
		}, map[string]string{"09:01": "the watch was lost", "09:03": ""}},
		{"another controller, which held it by its policy", false, func(c *sceneCron) {
			c.edit("08:59:50", "", func(f *events.CronJobSeen) { f.Policy = "Forbid" })
			c.runs("09:00:00", "09:00:00", "a", nil)
			c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "a", 0))
			c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
			c.ends("09:02:30", "09:00:00", "09:00:00", "a", events.ResultComplete)
			c.see("09:02:30", events.KindCronJobChanged, events.Evidence{})
			c.runs("09:02:31", "09:02:00", "b", nil)
			c.ledger("09:02:31", "09:02:00", "", events.NotHeld,
				c.fate("09:01:00", "09:01:00", events.TickSkipped, func(t *events.Tick) { t.Into = cronClock("09:02:00") }), c.started("09:02:00", "b", 31*time.Second))
		}, map[string]string{"09:01": "report-a had not ended, and the policy is Forbid", "09:02": "report-a had not ended, and the policy is Forbid"}},
		{"another controller, and nothing is known", false, func(c *sceneCron) {
			c.well("09:00", "a", events.ResultComplete)
			c.runs("09:02:31", "09:02:00", "b", nil)
			c.ledger("09:02:31", "09:02:00", "", events.NotHeld,
				c.fate("09:01:00", "09:01:00", events.TickSkipped, func(t *events.Tick) { t.Into = cronClock("09:02:00") }), c.started("09:02:00", "b", 31*time.Second))
		}, map[string]string{"09:01": "", "09:02": ""}},
		{"another controller, and a deadline", false, func(c *sceneCron) {
			c.edit("08:59:50", "", func(f *events.CronJobSeen) { f.Deadline = new(int64(20)) })
			c.well("09:00", "a", events.ResultComplete)
			c.ledger("09:02:31", "09:01:00", "", events.NotHeld, c.fate("09:01:00", "09:01:00", events.TickSkipped, nil))
		}, map[string]string{"09:01": "by 2026-03-02 09:01:20 startingDeadlineSeconds 20 was over"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, row.ours)
			c := l.cron("08:59:30", row.ours, nil)
			row.play(c)
			got := c.ticksWhy()
			for due, want := range row.want {
				if why, is := got[due]; !is || want == "" && why != "" || !strings.Contains(why, want) {
					t.Errorf("of %s it says %q (told: %t), want %q", due, why, is, want)
				}
			}
		})
	}
}
