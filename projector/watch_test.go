package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/projector/intake"
)

// TestAListThatShowsNoRuns: a program without CronJobs, or with one namespace, lists no Jobs of a CronJob elsewhere. If
// such a Job is absent from its list, that proves nothing.
func TestAListThatShowsNoRuns(t *testing.T) {
	for _, row := range []struct {
		sentence string
		change   func(*events.Settings)
		gone     int
	}{
		{"a whole list: the Job is gone", func(*events.Settings) {}, 1},
		{"a run that records no CronJobs", func(s *events.Settings) { s.CronJobs = false }, 0},
		{"a run that watches another namespace", func(s *events.Settings) { s.Namespace = "elsewhere" }, 0},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			w, in := projector.NewWorld(), intake.Intake{FileStart: 1}
			in.World = w
			n := events.Sequence(0)
			put := func(s events.Stream, kind events.Kind, f events.Facts) {
				n++
				w.Apply(&events.Record{
					Header: events.Header{Sequence: n, Time: events.Time(n), Stream: s, Kind: kind}, Facts: f,
					Evidence: events.Evidence{Namespace: "batch", Name: "nightly"},
				})
			}
			settings := events.DefaultSettings()
			settings.Mode, settings.CronJobs = events.ModeObserve, true
			put(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
			put(events.CronJobStream("cron"), events.KindCronJobAdded, &events.CronJobSeen{Version: 1, Schedule: "@daily"})
			put(events.CronJobStream("cron"), events.KindRunSeen, &events.RunSeen{Job: "job", Name: "nightly-1", Version: 2})
			row.change(&settings)
			put(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
			in.Admit(&events.Observation{Facts: &events.ListingStarted{Reason: events.ListingStart, Resources: []events.Resource{events.Jobs}}}, n+1)
			gone := 0
			for _, d := range in.Admit(&events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{9}}}, n+1) {
				if d.Kind == events.KindRunGone {
					gone++
				}
			}
			if gone != row.gone {
				t.Errorf("%d Jobs are told to be gone, want %d", gone, row.gone)
			}
		})
	}
}
