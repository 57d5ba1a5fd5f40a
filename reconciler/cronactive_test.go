package reconciler_test

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/reconciler/rules"
)

// triggered is a CronJob without a due time soon, and the outcomes (fates) that its ledger was told.
type triggered struct {
	world *projector.World
	now   events.Time
	at    events.Sequence
	told  []events.TickFate
}

var triggeredStream = events.CronJobStream("uid-nightly")

func newTriggered() *triggered {
	w := projector.NewWorld()
	w.Settings = events.DefaultSettings()
	w.Settings.Mode, w.Settings.CronJobs = events.ModeAll, true
	return &triggered{world: w, now: events.At(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))}
}

func (x *triggered) put(kind events.Kind, facts events.Facts) events.Sequence {
	x.at++
	x.world.Apply(&events.Record{
		Header: events.Header{Sequence: x.at, Time: x.now, Stream: triggeredStream, Kind: kind}, Facts: facts,
		Evidence: events.Evidence{Namespace: "batch", Name: "nightly"},
	})
	return x.at
}

// decide decides, and returns the command of the decision, if any. A decision has at most one command here.
func (x *triggered) decide() (name events.CommandID, command events.Command) {
	d := rules.Decide(x.world.CronJob(triggeredStream)).Decision
	for _, step := range d.Steps {
		if step.Cron != nil {
			for _, tick := range step.Cron.Ticks {
				x.told = append(x.told, tick.Fate)
			}
		}
	}
	name.Decided = x.put(events.KindDecided, &d)
	for _, c := range d.Commands() {
		command = c
	}
	return name, command
}

// seen returns the CronJob with a trigger from `ago` before now.
func (x *triggered) seen(ago time.Duration, policy string) *events.CronJobSeen {
	return &events.CronJobSeen{
		Version: 1, Schedule: "0 0 1 1 *", Created: x.now, Policy: policy,
		Trigger: &events.RunTrigger{Value: "now 1", Asked: x.now.Add(-ago), By: "alice"},
	}
}

// nameOfRun returns the name of the Job of that trigger.
func nameOfRun(t *testing.T) string {
	t.Helper()
	x := newTriggered()
	x.put(events.KindCronJobAdded, x.seen(0, "Allow"))
	_, command := x.decide()
	create, ok := command.(*events.CreateJob)
	if !ok {
		t.Fatal("nothing is made")
	}
	return create.Name
}

// TestATriggeredRunIsToldOnce: the Job of a trigger is marked as made by hand, and the watch shows it before the answer
// to its create comes. The ledger has it as triggered, and as nothing else.
func TestATriggeredRunIsToldOnce(t *testing.T) {
	x := newTriggered()
	x.put(events.KindCronJobAdded, x.seen(0, "Allow"))
	name, command := x.decide()
	create, ok := command.(*events.CreateJob)
	if !ok {
		t.Fatal("nothing is made")
	}
	x.put(events.KindRunSeen, &events.RunSeen{Job: "uid-run", Name: create.Name, Version: 2, Created: x.now, Manual: true})
	x.put(events.KindCommandEnded, &events.CommandEnded{Command: name, Ending: events.Done, UID: "uid-run", Version: 2, Written: x.now, Type: events.CommandCreateJob})
	x.decide()
	x.put(events.KindRunSeen, &events.RunSeen{Job: "uid-run", Name: create.Name, Version: 3, Created: x.now, Manual: true, Started: x.now})
	x.decide()
	if len(x.told) != 1 || x.told[0] != events.TickTriggered {
		t.Errorf("the ledger says %v, want %v alone", x.told, events.TickTriggered)
	}
}

// TestATriggeredRunOutlivesItsLog: the log is lost after the Job of a trigger was made. No other Job is made for the
// trigger, and the ledger says once that it ran. If the Job runs and is not in the list of active Jobs, its create is
// sent again under the same name, and the Job comes into the list.
func TestATriggeredRunOutlivesItsLog(t *testing.T) {
	name := nameOfRun(t)
	for _, row := range []struct {
		sentence       string
		ago            time.Duration
		policy         string
		finished, list bool
		creates        bool
	}{
		{"it has finished", time.Second, "Allow", true, false, false},
		{"it has finished, and was asked for long ago", time.Hour, "Allow", true, false, false},
		{"it runs and is in the list", time.Second, "Allow", false, true, false},
		{"it runs and is in the list, and the policy is Forbid", time.Second, "Forbid", false, true, false},
		{"it runs and is in the list, and the policy is Replace", time.Second, "Replace", false, true, false},
		{"it runs and is not in the list", time.Second, "Allow", false, false, true},
		{"it runs and is not in the list, and was asked for long ago", time.Hour, "Allow", false, false, true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			x := newTriggered()
			x.put(events.KindRunSeen, &events.RunSeen{Job: "uid-run", Name: name, Version: 2, Created: x.now, Manual: true, Started: x.now})
			if row.finished {
				x.put(events.KindRunSeen, &events.RunSeen{
					Job: "uid-run", Name: name, Version: 3, Created: x.now, Manual: true, Started: x.now, Result: events.ResultComplete, Succeeded: true, Completed: x.now,
				})
			}
			seen := x.seen(row.ago, row.policy)
			if row.list {
				seen.Active = []events.RunName{{UID: "uid-run", Name: name}}
			}
			x.put(events.KindCronJobAdded, seen)
			creates := 0
			for range 8 {
				id, command := x.decide()
				ended := &events.CommandEnded{Command: id, Ending: events.Done, UID: "uid-run", Version: 2}
				switch c := command.(type) {
				case nil:
					continue
				case *events.CreateJob:
					if creates++; c.Name != name {
						t.Errorf("%s is made, beside %s", c.Name, name)
					}
					ended.Type, ended.Ending, ended.Class, ended.UID = events.CommandCreateJob, events.Refused, events.RefusedNameTaken, ""
				case *events.ReadRun:
					ended.Type = events.CommandReadRun
				case *events.ReadCronJob:
					ended.Type, ended.UID = events.CommandReadCronJob, "uid-nightly"
				case *events.WriteCronStatus:
					seen.Version++
					ended.Type, ended.UID, ended.Version = events.CommandWriteCronStatus, "uid-nightly", seen.Version
				default:
					t.Fatalf("%T", c)
				}
				x.put(events.KindCommandEnded, ended)
			}
			if len(x.told) != 1 || x.told[0] != events.TickTriggered {
				t.Errorf("the ledger says %v, want %v alone", x.told, events.TickTriggered)
			}
			if (creates > 0) != row.creates {
				t.Errorf("%d creates", creates)
			}
			if row.creates && !x.world.CronJob(triggeredStream).IsActive("uid-run") {
				t.Error("the run is not in the list of active Jobs")
			}
		})
	}
}
