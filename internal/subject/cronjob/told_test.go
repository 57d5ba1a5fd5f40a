package cronjob_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/cronjob"
)

func minute(n int) events.Time {
	return events.At(time.Date(2026, 3, 2, 9, n, 0, 0, time.UTC))
}

// told is a CronJob after records of its stream, of which the n-th comes in minute n, and the same after a stored state.
func told(t *testing.T, facts ...events.Facts) *cronjob.CronJob {
	t.Helper()
	settings := events.DefaultSettings()
	begin := func() *cronjob.CronJob {
		c := &cronjob.CronJob{}
		c.Begin(events.CronJobStream("u"), &settings, cronjob.NewZones(), &cronjob.Watch{})
		return c
	}
	c := begin()
	for i, f := range facts {
		kind := events.KindCommandEnded
		if _, ok := f.(*events.Decision); ok {
			kind = events.KindDecided
		}
		c.Apply(&events.Record{
			Header: events.Header{Sequence: events.Sequence(i + 1), Time: minute(i + 1), Kind: kind, Stream: c.Stream}, Facts: f,
		})
		state, _ := c.ToWire()
		again := begin()
		if err := again.Restore(c.Ref, proto.CloneOf(state.GetCronJob())); err != nil {
			t.Fatal(err)
		}
		if again.Told != c.Told {
			t.Errorf("after record %d a stored state says %+v, want %+v", i+1, again.Told, c.Told)
		}
	}
	return c
}

func ledger(l *events.TickLedger, ticks ...events.Tick) *events.Decision {
	return &events.Decision{Steps: []events.Step{{Cron: &events.CronStep{Ledger: l, Ticks: ticks}}}}
}

// TestSinceWhenADueTimeIsHeldBack: a refused start is tried again and again, and each try tells the hold once more. The
// hold began with the first of them.
func TestSinceWhenADueTimeIsHeldBack(t *testing.T) {
	refused := func(due int) *events.Decision {
		return ledger(&events.TickLedger{Open: minute(due), Hold: events.HeldNoCreate})
	}
	forbid := ledger(&events.TickLedger{Open: minute(2), Hold: events.HeldForbid})
	free := ledger(&events.TickLedger{})
	for _, row := range []struct {
		name  string
		all   []events.Facts
		since int // 0 for not held back
	}{
		{"tried again and again", []events.Facts{free, refused(2), refused(2), ledger(nil), refused(2)}, 2},
		{"for another reason before", []events.Facts{free, forbid, refused(2), refused(2)}, 3},
		{"another due time before", []events.Facts{free, refused(2), refused(3), refused(3)}, 3},
		{"over by now", []events.Facts{refused(1), free}, 0},
		{"it is about to start", []events.Facts{refused(1), ledger(&events.TickLedger{Open: minute(1)})}, 0},
		{"again after it was over", []events.Facts{refused(1), free, refused(1)}, 3},
	} {
		want := cronjob.Place{}
		if row.since != 0 {
			want = cronjob.Place{At: events.Sequence(row.since), Time: minute(row.since)}
		}
		if got := told(t, row.all...).Told.Held; got != want {
			t.Errorf("%s: held back since %+v, want %+v", row.name, got, want)
		}
	}
}

// TestTheNewestDueTimeWithAFate: a Job that somebody made by hand, or asked for, is of no due time.
func TestTheNewestDueTimeWithAFate(t *testing.T) {
	due := func(n int) events.Tick {
		return events.Tick{First: minute(n), Last: minute(n), Fate: events.TickStarted, Job: "j", Name: "a-1", Late: 5, Zone: "h"}
	}
	byHand := events.Tick{First: minute(4), Last: minute(4), Fate: events.TickManual, Job: "k", By: "alice"}
	asked := byHand
	asked.Fate = events.TickTriggered
	seen := events.RunSeen{Job: "k", Name: "a-hand", Version: 1}
	c := told(t, &seen, ledger(nil, due(1), due(2)), ledger(nil, byHand), ledger(nil))
	if c.Told.Due != due(2) || c.Told.DueAt != 2 || c.Told.Decided != 4 {
		t.Errorf("the newest due time is %+v, of record %d; the newest decision is %d", c.Told.Due, c.Told.DueAt, c.Told.Decided)
	}
	if r := c.Runs["k"]; r.Asked != events.TickManual || r.AskedBy != "alice" {
		t.Errorf("who made it: %+v", r)
	}
	state, _ := told(t, &seen, ledger(nil, asked)).ToWire()
	if r := state.GetCronJob().GetRuns()[0]; events.TickFate(r.GetAsked()) != events.TickTriggered || r.GetAskedBy() != "alice" {
		t.Errorf("a state says of who asked for it: %v", r)
	}
}

// TestTheNewestFailureOfEachSort: a success clears the failure of its own sort only, and a command that was withdrawn
// says nothing. The backoff began with the failure that moved its end.
func TestTheNewestFailureOfEachSort(t *testing.T) {
	ended := func(kind events.CommandKind, ending events.Ending) *events.CommandEnded {
		f := &events.CommandEnded{Type: kind, Ending: ending, Command: events.CommandID{Decided: 1}}
		if ending == events.Refused {
			f.Class = events.RefusedServer
		}
		return f
	}
	write, remove := events.CommandWriteCronStatus, events.CommandDeleteRun
	both := ledger(nil)
	both.Steps[0].Commands = []events.Command{&events.WriteCronStatus{}, &events.DeleteRun{Job: "k"}}
	at := func(f events.Facts, place uint32) events.Facts {
		f.(*events.CommandEnded).Command.Place = place
		return f
	}
	c := told(t, both, at(ended(write, events.Refused), 0), at(ended(remove, events.OutcomeUnknown), 1))
	if f := c.Told.Failed; f[events.SortWrite] != 2 || f[events.SortChange] != 3 || f[events.SortCreate] != 0 {
		t.Errorf("failed in %v", f)
	}
	if want := (cronjob.Place{At: 2, Time: minute(2)}); c.Told.Backoff != want || c.Retry().Until == 0 {
		t.Errorf("the backoff began at %+v, want %+v", c.Told.Backoff, want)
	}
	c = told(t, both, at(ended(write, events.Refused), 0), at(ended(remove, events.Done), 1))
	if f := c.Told.Failed; f[events.SortWrite] != 2 || f[events.SortChange] != 0 {
		t.Errorf("failed in %v, after a success of another sort", f)
	}
	c = told(t, both, at(ended(write, events.Refused), 0), at(ended(remove, events.Withdrawn), 1), both,
		&events.CommandEnded{Type: write, Ending: events.Done, Command: events.CommandID{Decided: 4}})
	if c.Told.Failed != ([events.MaxSort + 1]events.Sequence{}) {
		t.Errorf("failed in %v, after a success", c.Told.Failed)
	}
}

// TestSinceWhenTheBackoffLasts: a failure in a later pass begins the next backoff. Where the clock was stepped since, the
// record's time is of another clock, and since when is not told.
func TestSinceWhenTheBackoffLasts(t *testing.T) {
	write := func(n int) (*events.Decision, *events.CommandEnded) {
		d := ledger(nil)
		d.Steps[0].Commands = []events.Command{&events.WriteCronStatus{}}
		return d, &events.CommandEnded{
			Type: events.CommandWriteCronStatus, Ending: events.Refused, Class: events.RefusedServer,
			Command: events.CommandID{Decided: events.Sequence(n)},
		}
	}
	first, failed := write(1)
	second, again := write(3)
	c := told(t, first, failed, second, again)
	if want := (cronjob.Place{At: 4, Time: minute(4)}); c.Told.Backoff != want {
		t.Errorf("the backoff began at %+v, want %+v", c.Told.Backoff, want)
	}
	c.Apply(&events.Record{
		Header: events.Header{Sequence: 5, Time: minute(5), Kind: events.KindClockStepped, Stream: events.Controller},
		Facts:  &events.ClockStepped{Step: time.Hour},
	})
	if c.Told.Backoff != (cronjob.Place{}) || c.Retry().Until == 0 || c.Told.Failed[events.SortWrite] != 4 {
		t.Errorf("after the clock was stepped: %+v", c.Told)
	}
}
