package projector_test

import (
	"reflect"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestWhatOlderFoldsToldOfAnotherController: nothing. The records of a program of before are folded to the state that it had: no ledger of a
// CronJob that another controller runs, and the CronJob is forgotten when it is gone. Of one that this program runs the ledger begins as
// ever. When a newer program goes on with the log, due times are observed from then on.
func TestWhatOlderFoldsToldOfAnotherController(t *testing.T) {
	const now, before = projector.FoldVersion, 6
	for _, row := range []struct {
		sentence               string
		fold                   uint32
		mode                   events.Mode
		then                   uint32 // the fold of a program that goes on; 0 for none
		counting, sees, forgot bool
	}{
		{"another one runs it", now, events.ModeObserve, 0, true, true, false},
		{"another one ran it, in an older log", before, events.ModeObserve, 0, false, false, true},
		{"this one runs it", now, events.ModeAll, 0, true, false, false},
		{"this one ran it, in an older log", before, events.ModeAll, 0, true, false, false},
		{"an older log that goes on", before, events.ModeObserve, now, true, true, false},
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
			start := func(fold uint32) {
				settings := events.DefaultSettings()
				settings.Mode, settings.CronJobs = row.mode, true
				put(events.Controller, events.KindControllerStarted, &events.ControllerStarted{FoldVersion: fold, Settings: settings})
				put(events.Controller, events.KindListingStarted, &events.ListingStarted{Reason: events.ListingStart, Resources: []events.Resource{events.CronJobs}})
				put(events.Controller, events.KindSynced, &events.Synced{Resources: []events.Resource{events.CronJobs}, Versions: []uint64{9}})
			}
			s := events.CronJobStream("cron")
			start(row.fold)
			put(s, events.KindCronJobAdded, &events.CronJobSeen{Version: 1, Schedule: "@daily"})
			put(s, events.KindRunSeen, &events.RunSeen{Job: "job", Name: "nightly-1", Version: 2})
			if row.then != 0 {
				start(row.then)
			}
			c := w.CronJob(s)
			if c.Counting != row.counting || c.Sight.Observing != row.sees {
				t.Errorf("it has a ledger: %t, observes: %t", c.Counting, c.Sight.Observing)
			}
			if old := row.then == 0 && row.fold == before; old && (!reflect.DeepEqual(c.Sight, projector.CronSight{}) || c.Runs["job"].First != 0) {
				t.Errorf("an older state has none of %+v", c.Sight)
			}
			put(s, events.KindRunGone, &events.RunGone{Job: "job", Version: 3})
			put(s, events.KindCronJobDeleted, &events.CronJobGone{Version: 4})
			if forgot := w.CronJob(s) == nil; forgot != row.forgot {
				t.Errorf("it is forgotten when it is gone: %t", forgot)
			}
		})
	}
}
