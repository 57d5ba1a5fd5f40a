package history_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history/historytest"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

var (
	ofRuns = events.CronJobStream("uid-report")
	// twoRuns are the records of a CronJob with two Jobs, one of which was made by hand. Its open due time is held back,
	// and its newest command was refused.
	twoRuns = []events.Record{
		told(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: runsCrons()}, events.Evidence{}),
		told(ofRuns, events.KindCronJobAdded, seen(2, func(*events.CronJobSeen) {}), named("report")),
		told(ofRuns, events.KindRunSeen, &events.RunSeen{
			Job: "u-a", Name: "report-a", Version: 3, Created: historytest.At("08:03:00"), Started: historytest.At("08:03:01"), Due: historytest.At("08:03:00"),
		}, named("report")),
		told(ofRuns, events.KindRunSeen, &events.RunSeen{
			Job: "u-b", Name: "report-b", Version: 4, Created: historytest.At("08:03:30"), Started: historytest.At("08:03:31"), Manual: true, By: "kim",
			Result: events.ResultComplete, Succeeded: true, Completed: historytest.At("08:03:50"),
		}, named("report")),
		told(ofRuns, events.KindCronJobChanged, seen(5, func(f *events.CronJobSeen) {
			f.Active = []events.RunName{{UID: "u-a", Name: "report-a", Version: 5}}
			f.LastSchedule, f.LastSuccess = historytest.At("08:03:00"), historytest.At("08:03:50")
		}), named("report")),
		told(ofRuns, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
			Stage: "due", Rule: "due", Reason: "Due", Sentence: "it is due", Commands: []events.Command{&events.DeleteRun{Job: "u-b", Name: "report-b"}},
			Cron: &events.CronStep{
				Ticks: []events.Tick{{
					First: historytest.At("08:03:00"), Last: historytest.At("08:03:00"), Fate: events.TickStarted, Late: time.Second, Job: "u-a", Name: "report-a",
				}, {First: historytest.At("08:03:30"), Last: historytest.At("08:03:30"), Fate: events.TickManual, Job: "u-b", Name: "report-b", By: "lee"}},
				Ledger: &events.TickLedger{
					Schedule: "* * * * *", Through: historytest.At("08:05:00"), Open: historytest.At("08:06:00"), Hold: events.HeldForbid,
				},
			},
		}}}, named("report")),
		told(ofRuns, events.KindCommandEnded, &events.CommandEnded{
			Command: events.CommandID{Decided: 7}, Ending: events.Refused, Class: events.RefusedForbidden, Type: events.CommandDeleteRun, Sent: true,
		}, events.Evidence{Namespace: "batch", Name: "report-b", Message: "no right"}),
	}
)

func runsCrons() events.Settings {
	s := modeAll()
	s.CronJobs = true
	return s
}

func seen(version uint64, change func(f *events.CronJobSeen)) *events.CronJobSeen {
	f := &events.CronJobSeen{Version: version, Generation: 1, Created: historytest.At("08:01:30"), Schedule: "* * * * *", Policy: "Forbid", Template: "t", Redacted: "t"}
	change(f)
	return f
}

// logged is the log of some records behind that of its creation, each of the minute of its sequence.
func logged(t *testing.T, records []events.Record) *memlog.Log {
	t.Helper()
	log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
	last := map[events.Stream]events.Sequence{}
	created := told(events.Controller, events.KindLogCreated, &events.LogCreated{LogID: "0f0f", Epoch: 1, Format: events.Format}, events.Evidence{})
	for i, r := range append([]events.Record{created}, records...) {
		r.Sequence, r.Time, r.Previous = events.Sequence(i+1), historytest.At(fmt.Sprintf("08:%02d:00", i+1)), last[r.Stream]
		r.Critical, r.Last, r.FactsSalt, r.EvidenceSalt = r.Kind.Critical(), true, events.Salt{1}, events.Salt{2}
		c := log.Append(events.Batch{Records: []events.Record{r}}, true)
		<-c.Done()
		if err := c.Err(); err != nil {
			t.Fatal(err)
		}
		last[r.Stream] = r.Sequence
	}
	return log
}
