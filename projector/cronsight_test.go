package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestWhoRunsACronJob: a CronJob has a ledger, whether this program or another controller runs it. When it is gone, it
// is kept until the outcomes (fates) of its due times are recorded. Its due times are observed if another controller
// runs it.
func TestWhoRunsACronJob(t *testing.T) {
	for _, row := range []struct {
		sentence string
		mode     events.Mode
		sees     bool
	}{
		{"another one runs it", events.ModeObserve, true},
		{"this one runs it", events.ModeAll, false},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			w, n := projector.NewWorld(), events.Sequence(0)
			put := func(s events.Stream, kind events.Kind, f events.Facts) {
				n++
				w.Apply(&events.Record{
					Header: events.Header{Sequence: n, Time: events.Time(n), Stream: s, Kind: kind}, Facts: f,
					Evidence: events.Evidence{Namespace: "batch", Name: "nightly"},
				})
			}
			settings := events.DefaultSettings()
			settings.Mode, settings.CronJobs = row.mode, true
			put(events.Controller, events.KindControllerStarted, &events.ControllerStarted{FoldVersion: projector.FoldVersion, Settings: settings})
			put(events.Controller, events.KindListingStarted, &events.ListingStarted{Reason: events.ListingStart, Resources: []events.Resource{events.CronJobs}})
			put(events.Controller, events.KindSynced, &events.Synced{Resources: []events.Resource{events.CronJobs}, Versions: []uint64{9}})
			s := events.CronJobStream("cron")
			put(s, events.KindCronJobAdded, &events.CronJobSeen{Version: 1, Schedule: "@daily"})
			put(s, events.KindRunSeen, &events.RunSeen{Job: "job", Name: "nightly-1", Version: 2})
			c := w.CronJob(s)
			if !c.Counting || c.Sight.Observing != row.sees {
				t.Errorf("it has a ledger: %t, observes: %t", c.Counting, c.Sight.Observing)
			}
			put(s, events.KindRunGone, &events.RunGone{Job: "job", Version: 3})
			put(s, events.KindCronJobDeleted, &events.CronJobGone{Version: 4})
			if w.CronJob(s) == nil {
				t.Error("it is forgotten when it is gone, and nothing tells what became of its due times")
			}
		})
	}
}
