package projector_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
	"github.com/jobledger/jobledger/projector"
)

// TestAStartThatFindsAToldJob: the create of a run finds that the Job of its due time exists, and the ledger already
// has it. The status must list the Job, and the ledger gets nothing more.
func TestAStartThatFindsAToldJob(t *testing.T) {
	const due = 600 * events.Time(1e9)
	for _, row := range []struct {
		sentence string
		told     bool // the ledger has it before
		runDue   events.Time
		stage    cronjob.StartStage // 0 for none
	}{
		{"the ledger tells of it", true, due, 0},
		{"the ledger does not tell of it", false, due, cronjob.StartThere},
		{"it is that of another due time of the minute", true, due + 10e9, cronjob.StartAnother},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			w, n, s := projector.NewWorld(), events.Sequence(0), events.CronJobStream("cron")
			put := func(s events.Stream, kind events.Kind, f events.Facts) events.CommandID {
				n++
				w.Apply(&events.Record{
					Header: events.Header{Sequence: n, Time: 700e9 + events.Time(n), Stream: s, Kind: kind}, Facts: f,
					Evidence: events.Evidence{Namespace: "batch", Name: "nightly"},
				})
				return events.CommandID{Decided: n}
			}
			decide := func(step events.Step) events.CommandID {
				return put(s, events.KindDecided, &events.Decision{Steps: []events.Step{step}})
			}
			settings := events.DefaultSettings()
			settings.Mode, settings.CronJobs = events.ModeAll, true
			put(events.Controller, events.KindControllerStarted, &events.ControllerStarted{FoldVersion: projector.FoldVersion, Settings: settings})
			put(s, events.KindCronJobAdded, &events.CronJobSeen{Version: 1, Schedule: "*/10 * * * *"})
			put(s, events.KindRunSeen, &events.RunSeen{Job: "job", Name: "nightly-10", Version: 2, Due: row.runDue})
			if row.told {
				decide(events.Step{Cron: &events.CronStep{Ticks: []events.Tick{{First: due, Last: due, Fate: events.TickStarted, Job: "job", Name: "nightly-10", Observed: true}}}})
			}
			create := decide(events.Step{Commands: []events.Command{&events.CreateJob{Name: "nightly-10", Due: due}}})
			put(s, events.KindCommandEnded, &events.CommandEnded{Command: create, Ending: events.Refused, Class: events.RefusedNameTaken})
			read := decide(events.Step{Commands: []events.Command{&events.ReadRun{Name: "nightly-10"}}})
			put(s, events.KindCommandEnded, &events.CommandEnded{Command: read, Ending: events.Done, UID: "job", Version: 2})
			c := w.CronJob(s)
			if !c.IsActive("job") || c.LastSchedule != due {
				t.Errorf("the status is to have the active Jobs %v and the due time %d", c.Active, c.LastSchedule)
			}
			stage := cronjob.StartStage(0)
			if c.Start != nil {
				stage = c.Start.Stage
			}
			if stage != row.stage {
				t.Errorf("the start is at stage %d, want %d", stage, row.stage)
			}
		})
	}
}
