package controller

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/zones"
	"github.com/jobledger/jobledger/projector"
)

// TestCompareZones: a start with another database finds the CronJobs whose next 100 due times differ, and no others.
func TestCompareZones(t *testing.T) {
	world := projector.NewWorld()
	world.Settings.Mode, world.Settings.CronJobs = events.ModeAll, true
	sequence := events.Sequence(0)
	put := func(stream events.Stream, kind events.Kind, facts events.Facts, evidence events.Evidence) {
		sequence++
		world.Apply(&events.Record{Header: events.Header{Sequence: sequence, Time: 1, Stream: stream, Kind: kind}, Facts: facts, Evidence: evidence})
	}
	for _, row := range []struct{ name, schedule, zone string }{
		{"noon", "0 12 * * *", "Europe/Berlin"}, {"same-noon", "0 12 * * *", "Europe/Berlin"}, {"hourly", "0 * * * *", "Europe/Berlin"},
		{"utc", "0 12 * * *", ""}, {"tokyo", "0 12 * * *", "Asia/Tokyo"}, {"named", "CRON_TZ=Europe/Berlin 0 12 * * *", ""},
		{"lost", "0 12 * * *", "America/Lima"}, {"bad", "never", "Europe/Berlin"},
	} {
		stream := events.CronJobStream(types.UID(row.name))
		seen := &events.CronJobSeen{Version: uint64(sequence) + 1, Schedule: row.schedule, Created: 1}
		zone := row.zone
		if row.zone != "" {
			seen.TimeZone = &zone
		} else if row.name == "named" {
			zone = "Europe/Berlin"
		}
		if rules, ok := zones.Find(zone); ok {
			seen.Zones = []events.ZoneName{{Name: zone, Hash: rules.Hash}}
			put(stream, events.KindZoneStored, &events.ZoneRules{Name: zone, Hash: rules.Hash, TZif: rules.TZif}, events.Evidence{})
		}
		put(stream, events.KindCronJobAdded, seen, events.Evidence{Namespace: "default", Name: row.name})
	}
	lagos, _ := zones.Find("Africa/Lagos")
	find := func(name string) (zones.Rules, bool) {
		switch name {
		case "Europe/Berlin":
			return zones.Rules{Name: name, TZif: lagos.TZif, Hash: lagos.Hash}, true
		case "America/Lima":
			return zones.Rules{}, false
		}
		return zones.Find(name)
	}
	never := func() bool { return false }
	in := func(year, month int) time.Time { return time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC) }
	for _, row := range []struct {
		sentence string
		now      time.Time
		enough   func() bool
		others   int
		passed   int
		moved    []string // with the number of due times that differ
	}{
		{"in summer", in(2026, 6), never, 5, 0, []string{"noon 100", "same-noon 100", "named 100", "lost 0"}},
		{"in winter, and summer comes", in(2026, 3), never, 5, 0, []string{"noon 72", "same-noon 72", "named 72", "lost 0"}},
		{"in autumn it is too far away", in(2026, 11), never, 5, 0, []string{"lost 0"}},
		{"there is no time", in(2026, 6), func() bool { return true }, 5, 4, []string{"lost 0"}},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			r := compareZones(world, find, row.now, row.enough)
			var moved []string
			for _, m := range r.moved {
				moved = append(moved, fmt.Sprintf("%s %d", m.name, m.Count))
				if m.lacks != (m.name == "lost") {
					t.Errorf("%s: its zone is lacking: %t", m.name, m.lacks)
				}
			}
			if r.others != row.others || r.passed != row.passed || fmt.Sprint(moved) != fmt.Sprint(row.moved) {
				t.Errorf("%d others, %d passed, moved %v; want %d, %d, %v", r.others, r.passed, moved, row.others, row.passed, row.moved)
			}
		})
	}
}
