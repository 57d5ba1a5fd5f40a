package explain_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/explain/explaintest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhichDueTimeIsOpen: explain, get, the list and ticks say the same due time to be open, and none where that is not
// known, or where the CronJob is gone.
func TestWhichDueTimeIsOpen(t *testing.T) {
	relist := func(c *sceneCron, clock, since string, of ...events.Resource) {
		c.add(clock, events.Controller, events.KindListingStarted, &events.ListingStarted{
			Reason: events.ListingRelisted, Resources: of, LastSeen: cronClock(since), LastVersions: make([]uint64, len(of)),
		})
	}
	later := func(c *sceneCron, clock string) { c.node(clock, "node-1", func(*events.NodeSeen) {}) }
	held := func(c *sceneCron) {
		c.edit("08:59:50", "helm", func(f *events.CronJobSeen) { f.Policy = "Forbid" })
		c.runs("09:00:00", "09:00:00", "29540700", nil)
		c.ledger("09:00:00", "09:00:00", "", events.NotHeld, c.started("09:00:00", "29540700", 0))
		c.see("09:00:01", events.KindCronJobChanged, events.Evidence{})
		c.ledger("09:01:00", "09:00:00", "09:01:00", events.HeldForbid)
	}
	for name, row := range map[string]struct {
		ours        bool
		play        func(c *sceneCron)
		first, last string // of those that are open; empty for none
		state       history.CronState
	}{
		"another controller has not started it": {false, func(c *sceneCron) {
			later(c, "09:02:30")
		}, "09:00:00", "09:02:00", history.CronOverdue},
		"its Jobs are being listed": {false, func(c *sceneCron) {
			relist(c, "09:01:30", "08:59:50", events.Jobs, events.Pods, events.CronJobs)
			later(c, "09:02:30")
		}, "", "", history.CronWaiting},
		"only pods are being listed": {false, func(c *sceneCron) {
			relist(c, "09:01:30", "08:59:50", events.Pods)
			later(c, "09:02:30")
		}, "09:00:00", "09:02:00", history.CronOverdue},
		"its Jobs were listed": {false, func(c *sceneCron) {
			c.listed("09:01:30", "09:01:20", func() {})
			later(c, "09:02:30")
		}, "09:00:00", "09:02:00", history.CronOverdue},
		"we run it, and its Jobs are being listed": {true, func(c *sceneCron) {
			held(c)
			relist(c, "09:01:30", "09:01:20", events.Jobs, events.CronJobs)
			later(c, "09:01:40")
		}, "09:01:00", "09:01:00", history.CronHeld},
		"it is gone": {true, func(c *sceneCron) {
			held(c)
			c.add("09:01:30", c.of, events.KindCronJobDeleted, &events.CronJobGone{})
		}, "", "", history.CronDeleted},
		"we held it back, and another controller runs it": {true, func(c *sceneCron) {
			held(c)
			c.controller("09:01:20", events.ModeObserve, nil)
			later(c, "09:03:30")
		}, "09:01:00", "09:03:00", history.CronHeld},
	} {
		t.Run(name, func(t *testing.T) {
			l := newScene(t, row.ours)
			row.play(l.cron("08:59:30", row.ours, nil))
			src := l.source()
			c, err := cron.Read(t.Context(), src, l.of, history.Point{})
			if err != nil {
				t.Fatal(err)
			}
			page, err := src.CronJobs(t.Context(), history.CronJobsQuery{})
			if err != nil || len(page.Items) != 1 {
				t.Fatal(page.Items, err)
			}
			for of, got := range map[string]struct {
				state history.CronState
				due   *history.OpenDue
			}{"get": {c.State.State, c.State.Due}, "the list": {page.Items[0].State, page.Items[0].Due}} {
				first, last := "", ""
				if d := got.due; d != nil {
					last = events.Time(d.At).Go().Format("15:04:05")
					if first = last; d.First != 0 {
						first = events.Time(d.First).Go().Format("15:04:05")
					}
				}
				if first != row.first || last != row.last || got.state != row.state {
					t.Errorf("%s: from %q to %q, %s; want from %q to %q, %s",
						of, first, last, got.state, row.first, row.last, row.state)
				}
			}
			r, err := explaintest.Check(t.Context(), src)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				t.Error(f)
			}
		})
	}
}
