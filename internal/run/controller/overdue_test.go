package controller

import (
	"maps"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestOverdueCronJobs: a due time that did not start is counted after 100 s, or its deadline, whoever is to start it,
// by what holds it back.
func TestOverdueCronJobs(t *testing.T) {
	begin := time.Date(2026, 3, 2, 8, 0, 10, 0, time.UTC)
	for _, row := range []struct {
		name   string
		mode   events.Mode
		seen   events.CronJobSeen
		ledger *events.TickLedger
		after  time.Duration
		want   map[string]float64
	}{
		{"observed, a minute after it was due", events.ModeObserve, events.CronJobSeen{}, nil, 110 * time.Second, nil},
		{"observed, and two minutes after", events.ModeObserve, events.CronJobSeen{}, nil, 160 * time.Second, map[string]float64{"": 1}},
		{"observed, and its deadline is over", events.ModeObserve, events.CronJobSeen{Deadline: new(int64(20))}, nil, 80 * time.Second, map[string]float64{"": 1}},
		{"observed, with a deadline of ages", events.ModeObserve, events.CronJobSeen{Deadline: new(int64(9223372036854775807))}, nil, time.Hour, map[string]float64{"": 1}},
		{"observed, and suspended", events.ModeObserve, events.CronJobSeen{Suspend: true}, nil, time.Hour, nil},
		{"observed, and started", events.ModeObserve, events.CronJobSeen{LastSchedule: events.At(begin.Add(50 * time.Second))}, nil, 160 * time.Second, nil},
		{"ours, and nothing was decided", events.ModeAll, events.CronJobSeen{}, nil, 160 * time.Second, map[string]float64{"": 1}},
		{"ours, with a deadline, and not looked at", events.ModeAll, events.CronJobSeen{Deadline: new(int64(10))}, nil, 110 * time.Second, nil},
		{"ours, with a deadline, and nothing was decided", events.ModeAll, events.CronJobSeen{Deadline: new(int64(10))}, nil, 160 * time.Second, map[string]float64{"": 1}},
		{"ours, and refused", events.ModeAll, events.CronJobSeen{},
			&events.TickLedger{Through: events.At(begin), Open: events.At(begin.Add(50 * time.Second)), Hold: events.HeldNoCreate, Schedule: "* * * * *"},
			160 * time.Second, map[string]float64{"Refused": 1}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := projector.NewWorld()
			settings := events.DefaultSettings()
			settings.Mode, settings.CronJobs = row.mode, true
			n := events.Sequence(0)
			apply := func(s events.Stream, kind events.Kind, f events.Facts) {
				n++
				w.Apply(&events.Record{Header: events.Header{Sequence: n, Time: events.At(begin), Stream: s, Kind: kind}, Facts: f,
					Evidence: events.Evidence{Namespace: "batch", Name: "nightly"}})
			}
			apply(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
			seen := row.seen
			seen.Version, seen.Created, seen.Schedule, seen.Policy = 1, events.At(begin), "* * * * *", "Forbid"
			s := events.CronJobStream(types.UID("uid"))
			apply(s, events.KindCronJobAdded, &seen)
			if row.ledger != nil {
				apply(s, events.KindDecided, &events.Decision{Steps: []events.Step{{Cron: &events.CronStep{Ledger: row.ledger}}}})
			}
			o := newOverdue()
			for i := range 2 { // the second look takes what the first one found
				o.show(w, begin.Add(time.Duration(i)*time.Hour), events.At(begin.Add(row.after)))
				r := prometheus.NewRegistry()
				r.MustRegister(o.gauge)
				all, err := r.Gather()
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]float64{}
				for _, m := range all[0].GetMetric() {
					if v := m.GetGauge().GetValue(); v != 0 {
						got[m.GetLabel()[0].GetValue()] = v
					}
				}
				if !maps.Equal(got, row.want) {
					t.Errorf("%v CronJobs are overdue, by what holds them back; want %v", got, row.want)
				}
			}
		})
	}
}
