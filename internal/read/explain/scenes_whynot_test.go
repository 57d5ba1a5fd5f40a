package explain_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestScenesOfInstants: what became of instants of which little is recorded.
func TestScenesOfInstants(t *testing.T) {
	begin := func(l *scene, ours bool, change func(*events.CronJobSeen)) *sceneCron {
		return l.cron("08:59:30", ours, change)
	}
	older := func(f *events.CronJobSeen) {
		f.Created, f.LastSchedule, f.Generation = cronClock("08:00:00"), cronClock("08:59:00"), 3
	}
	goes := func(c *sceneCron, clock string) {
		c.tell(clock, c.of, events.KindCronJobDeleted, &events.CronJobGone{}, events.Evidence{Namespace: "batch", Name: "report"})
	}
	for name, row := range map[string]struct {
		play func(l *scene, ours bool)
		at   []string
	}{
		"due each second, and one holds back the rest": {func(l *scene, ours bool) {
			c := begin(l, ours, func(f *events.CronJobSeen) { f.Schedule, f.Policy = "@every 1s", "Forbid" })
			c.runs("08:59:31", "08:59:31", "a", nil)
			c.ledger("08:59:31", "08:59:31", "", events.NotHeld, c.started("08:59:31", "a", 0))
			c.see("08:59:31", events.KindCronJobChanged, events.Evidence{})
			c.ledger("08:59:32", "08:59:31", "08:59:32", events.HeldForbid)
			c.see("08:59:40", events.KindCronJobChanged, events.Evidence{})
		}, []string{"08:59:31", "08:59:32", "08:59:33", "08:59:40", "08:59:41"}},
		"due each second, and nothing holds back": {func(l *scene, ours bool) {
			c := begin(l, ours, func(f *events.CronJobSeen) { f.Schedule = "@every 1s" })
			c.runs("08:59:31", "08:59:31", "a", nil)
			c.ledger("08:59:31", "08:59:31", "", events.NotHeld, c.started("08:59:31", "a", 0))
			c.see("08:59:40", events.KindCronJobChanged, events.Evidence{})
		}, []string{"08:59:32", "08:59:38", "09:00:10"}},
		"it is older than the log": {func(l *scene, ours bool) {
			c := begin(l, ours, older)
			c.well("09:00", "a", events.ResultComplete)
			c.edit("09:00:30", "", func(f *events.CronJobSeen) { f.Schedule = "*/7 * * * *" })
		}, []string{"07:00:00", "08:30:00", "08:57:00", "08:58:00", "08:59:00", "08:59:20", "09:00:00", "09:07:00"}},
		"nobody looks any more": {func(l *scene, ours bool) {
			c := begin(l, ours, nil)
			c.well("09:00", "a", events.ResultComplete)
			goes(c, "09:00:40")
			settings := events.DefaultSettings()
			settings.Mode = events.ModeObserve
			l.add("09:02:00", events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
			l.node("09:05:00", "node-1", func(*events.NodeSeen) {})
		}, []string{"09:01:00", "09:02:00", "09:03:00", "09:09:00"}},
		"nobody looks at one that goes on": {func(l *scene, ours bool) {
			c := begin(l, ours, nil)
			c.well("09:00", "a", events.ResultComplete)
			settings := events.DefaultSettings()
			settings.Mode = events.ModeObserve
			l.add("09:02:00", events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
			l.node("09:05:00", "node-1", func(*events.NodeSeen) {})
		}, []string{"09:01:00", "09:03:00"}},
		"there was no room in the log": {func(l *scene, ours bool) {
			c := begin(l, ours, nil)
			c.well("09:00", "a", events.ResultComplete)
			goes(c, "09:00:40")
			all := []events.Resource{events.Jobs, events.Pods, events.CronJobs}
			l.add("09:04:00", events.Controller, events.KindListingStarted, &events.ListingStarted{
				Reason: events.ListingGap, Resources: all, LastSeen: cronClock("09:01:30"), LastVersions: []uint64{1, 1, 1},
			})
			l.add("09:04:00", events.Controller, events.KindSynced, &events.Synced{Resources: all, Versions: []uint64{2000, 2000, 2000}})
		}, []string{"09:01:00", "09:02:00", "09:03:00", "09:09:00"}},
		"it is being deleted": {func(l *scene, ours bool) {
			c := begin(l, ours, nil)
			c.well("09:00", "a", events.ResultComplete)
			c.seen.Deleted = cronClock("09:00:40")
			c.see("09:00:40", events.KindCronJobChanged, events.Evidence{Finalizers: []string{"corp.example/keep"}})
			l.node("09:05:00", "node-1", func(*events.NodeSeen) {})
		}, []string{"09:01:00", "09:02:00", "09:09:00"}},
		"its schedule was changed while nobody watched": {func(l *scene, ours bool) {
			c := begin(l, ours, nil)
			c.well("09:00", "a", events.ResultComplete)
			c.listed("09:10:10", "09:00:30", func() {
				c.seen.Found = true
				c.edit("09:10:10", "", func(f *events.CronJobSeen) { f.Schedule = "*/7 * * * *" })
				c.seen.Found = false
			})
			l.node("09:12:00", "node-1", func(*events.NodeSeen) {})
		}, []string{"09:00:00", "09:05:00", "09:07:00", "09:11:00", "09:14:00", "09:15:00"}},
	} {
		for _, ours := range []bool{false, true} {
			if unlikely := name == "due each second, and one holds back the rest" && !ours || name == "its schedule was changed while nobody watched" && ours; unlikely {
				continue // who observes holds nothing open, and we decide at once by another schedule
			}
			t.Run(fmt.Sprintf("%s, ours: %t", name, ours), func(t *testing.T) {
				l := newScene(t, ours)
				row.play(l, ours)
				c := &sceneCron{scene: l, ours: ours}
				c.whyNots(row.at...)
			})
		}
	}
}
