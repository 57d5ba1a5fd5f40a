package projector_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

const testBudget = 1 << 20

// ledger is a world with a budget, to which records are added.
type ledger struct {
	world *projector.World
	seq   events.Sequence
	now   events.Time
}

func newLedger(budget int64) *ledger {
	l := &ledger{world: projector.NewWorld(), now: events.At(time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC))}
	settings := events.DefaultSettings()
	settings.NamespaceBudget = budget
	l.record(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings}, events.Evidence{})
	return l
}

func (l *ledger) record(s events.Stream, kind events.Kind, facts events.Facts, e events.Evidence) int64 {
	l.seq++
	rec := &events.Record{Header: events.Header{Sequence: l.seq, Time: l.now, Stream: s, Kind: kind}, Facts: facts, Evidence: e}
	l.world.Apply(rec)
	return int64(events.Weight(rec))
}

// write records a Job of the namespace with that many bytes of evidence. It returns the record's weight.
func (l *ledger) write(namespace string, bytes int) int64 {
	return l.record(events.JobStream(types.UID("uid-"+namespace)), events.KindJobAdded, &events.JobSeen{Version: uint64(l.seq), Managed: true},
		events.Evidence{Namespace: namespace, Name: "job", Message: strings.Repeat("x", bytes)})
}

func (l *ledger) share(namespace string) int64 { return l.world.Share(namespace, l.now) }

// TestShares: the records of a namespace fill its share, and a budget leaks out of it within an hour.
func TestShares(t *testing.T) {
	l := newLedger(testBudget)
	wrote := l.write("a", 1000)
	if got := l.share("a"); got != wrote || got < 1000 {
		t.Errorf("after a record of %d bytes the share is %d", wrote, got)
	}
	if got := l.share("b"); got != 0 {
		t.Errorf("of a namespace that wrote nothing the share is %d", got)
	}
	wrote += l.record(events.JobStream("uid-a"), events.KindTimerFired, &events.TimerFired{}, events.Evidence{})
	if got := l.share("a"); got != wrote {
		t.Errorf("a record that does not name its namespace makes the share %d, want %d", got, wrote)
	}
	l.record(events.JobStream("uid-a"), events.KindStateStored, &events.StoredState{Encoded: make([]byte, 5000)}, events.Evidence{Namespace: "a"})
	if got := l.share("a"); got != wrote {
		t.Errorf("the state with which a file begins makes the share %d, want %d", got, wrote)
	}
	wrote += l.write("a", testBudget/2)
	l.now = l.now.Add(15 * time.Minute)
	if got, want := l.share("a"), wrote-testBudget/4; got != want {
		t.Errorf("15 minutes later the share is %d, want %d", got, want)
	}
	l.now = l.now.Add(time.Hour)
	if got := l.share("a"); got != 0 {
		t.Errorf("an hour later the share is %d, want 0", got)
	}
}

// TestASteadyWriterIsJudgedByItsRate: many small records leak like one large one.
func TestASteadyWriterIsJudgedByItsRate(t *testing.T) {
	for _, row := range []struct {
		sentence string
		rate     float64 // budgets in an hour
		over     bool
	}{
		{"who writes nine tenths of the budget in each hour is never over it", 0.9, false},
		{"who writes one and a half is over it after two hours", 1.5, true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			l := newLedger(testBudget)
			bytes := float64(l.write("a", 100))
			pause := time.Duration(bytes / (row.rate * testBudget) * float64(time.Hour))
			over := false
			for end := l.now.Add(3 * time.Hour); l.now < end; l.now = l.now.Add(pause) {
				l.write("a", 100)
				over = over || l.share("a") > testBudget
			}
			if over != row.over {
				t.Errorf("over its budget: %t, share %d", over, l.share("a"))
			}
		})
	}
}

// TestWhoStopsIsForgivenInAnHour: however much the namespace wrote.
func TestWhoStopsIsForgivenInAnHour(t *testing.T) {
	l := newLedger(testBudget)
	for range 10 {
		l.write("a", testBudget)
		l.write("b", 100)
	}
	if n, names := l.world.OverBudget(l.now, 5); n != 1 || !slices.Equal(names, []string{"a"}) {
		t.Errorf("over their budgets: %d, %q", n, names)
	}
	l.now = l.now.Add(time.Hour + time.Second)
	if n, _ := l.world.OverBudget(l.now, 5); n != 0 {
		t.Errorf("an hour later the share is %d of a budget of %d", l.share("a"), testBudget)
	}
}

// TestSharesLastThroughASnapshotAndAStepOfTheClock: neither a restart nor a clock that is set gives a namespace a new
// budget.
func TestSharesLastThroughASnapshotAndAStepOfTheClock(t *testing.T) {
	l := newLedger(testBudget)
	l.write("a", testBudget)
	l.now = l.now.Add(time.Minute)
	want := l.share("a")
	restored, _, err := projector.Restore([]projector.StreamAt{
		{Stream: events.Controller, AsOf: l.world.Head, Facts: l.world.ControllerState()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := restored.Share("a", l.now); got != want {
		t.Errorf("after a snapshot the share is %d, want %d", got, want)
	}
	for _, step := range []time.Duration{-5 * time.Hour, 24 * time.Hour} {
		l.now = l.now.Add(step)
		l.record(events.Controller, events.KindClockStepped, &events.ClockStepped{Step: step}, events.Evidence{})
		if got := l.share("a"); got != want {
			t.Errorf("after a step of the clock by %s the share is %d, want %d", step, got, want)
		}
	}
}

// TestSharesOfManyNamespacesAreForgotten: memory and state hold only shares that are not empty.
func TestSharesOfManyNamespacesAreForgotten(t *testing.T) {
	l := newLedger(testBudget)
	empty := len(l.world.ControllerState())
	for i := range 10_000 {
		l.write("ns-"+string(rune('a'+i%26))+strings.Repeat("x", i%1000), 10)
		l.now = l.now.Add(time.Second)
	}
	l.now = l.now.Add(2 * time.Hour)
	l.record(events.Controller, events.KindLeadershipChanged, &events.LeadershipChanged{}, events.Evidence{})
	if now := len(l.world.ControllerState()); now > empty+100 {
		t.Errorf("two hours later the state of the controller has %d bytes, %d when nobody had written", now, empty)
	}
	without := newLedger(0)
	without.write("a", testBudget)
	if n, _ := without.world.OverBudget(without.now, 5); n != 0 || without.share("a") != 0 {
		t.Errorf("without a budget %d namespaces are over it", n)
	}
}
