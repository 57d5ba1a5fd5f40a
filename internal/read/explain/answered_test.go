package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/cron"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAJobThatOnlyItsAnswerShows: each Job of a CronJob with policy Replace is replaced a minute later, and the watch
// shows none of them, as where it lags or where they go at once. The answers to their creates and deletes tell of them.
func TestAJobThatOnlyItsAnswerShows(t *testing.T) {
	l := newCronSeen(t, true)
	l.add("08:59:30", l.of, events.KindCronJobAdded, &events.CronJobSeen{
		Version: 1, Schedule: "* * * * *", Policy: "Replace", Created: cronClock("08:59:30"), Template: "t",
	})
	did := func(clock string, c events.Command, name string, uid types.UID, step *events.CronStep) {
		at := l.add(clock, l.of, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
			Stage: "s", Rule: "r", Reason: "R", Commands: []events.Command{c}, Cron: step,
		}}})
		ended := (&events.Task{Name: events.CommandID{Decided: at}, Command: c}).Ended(events.Done)
		ended.UID, ended.Version, ended.Sent, ended.Written = uid, uint64(at), true, cronClock(clock)
		l.addWith(clock, l.of, events.KindCommandEnded, &ended, events.Evidence{Namespace: "batch", Name: name})
	}
	for i := range 4 {
		clock, due := fmt.Sprintf("09:0%d:00", i), cronClock(fmt.Sprintf("09:0%d:00", i))
		name, uid := fmt.Sprintf("report-%d", i), types.UID(fmt.Sprintf("uid-%d", i))
		if i > 0 {
			before := fmt.Sprintf("-%d", i-1)
			did(clock, &events.DeleteRun{Job: types.UID("uid" + before), Name: "report" + before, Replacing: true}, "report"+before, "", nil)
		}
		did(clock, &events.CreateJob{Name: name, Due: due, Template: "t"}, name, uid, &events.CronStep{Ledger: &events.TickLedger{
			Schedule: "* * * * *", Through: due.Add(-60e9), Open: due,
		}})
		l.add(clock, l.of, events.KindDecided, &events.Decision{RulesVersion: 1, Steps: []events.Step{{Stage: "s", Rule: "r", Reason: "R", Cron: &events.CronStep{
			Ticks:  []events.Tick{{First: due, Last: due, Fate: events.TickStarted, Job: uid, Name: name}},
			Ledger: &events.TickLedger{Schedule: "* * * * *", Through: due},
		}}}})
	}
	c, err := cron.Read(t.Context(), history.Local{Log: l.log}, l.of, history.Point{})
	if err != nil {
		t.Fatal(err)
	}
	keepAll(t, l.source())
	a := c.Answer()
	if got := a.Verdict.Text; !strings.HasPrefix(got, "STARVING: its last 3 Jobs that are over did not end") {
		t.Errorf("the verdict is %q", got)
	}
	for _, s := range a.Sections {
		if s.Head == "RUNS" && len(s.Sentences) != 4 {
			t.Errorf("it tells of %d runs", len(s.Sentences))
		}
	}
}
