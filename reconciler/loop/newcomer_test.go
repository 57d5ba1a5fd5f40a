package loop_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// TestAReadLetsNobodyInAtTheDoor: a Job waits because its namespace is over its budget. A pod names the Job, so the Job
// is read. The Job still waits for its turn, and is read again meanwhile.
func TestAReadLetsNobodyInAtTheDoor(t *testing.T) {
	m := newMachine(t)
	for _, command := range []string{"start namespace-budget=1", "synced", "job one suspend=true", "job two suspend=true", "pod two#1 unmarked"} {
		m.do(command)
	}
	stream := events.JobStream("uid-two")
	read := events.CommandID{Decided: events.Sequence(m.newestDecision("two"))}
	if _, ok := m.loop.World().Job(stream).InFlight(read).(*events.ReadJob); !ok {
		t.Fatal("the Job is not read")
	}
	m.turn(loop.Input{Result: &events.TaskResult{
		Stream: stream, Observations: []events.Observation{*m.jobs["two"]},
		Ended: events.CommandEnded{Command: read, Ending: events.Done, UID: "uid-two", Version: m.version, Sent: true},
	}})
	j := m.loop.World().Job(stream)
	if j.Known() || j.Gone || j.InFlight(read) != nil {
		t.Errorf("known %t, gone %t, in flight %v; want none of it", j.Known(), j.Gone, j.InFlight(read))
	}
	m.do("wait 2s")
	if again := m.newestDecision("two"); events.Sequence(again) <= read.Decided {
		t.Error("it is not read again")
	}
	m.do("wait 60s")
	if j := m.loop.World().Job(stream); !j.Known() {
		t.Error("its turn has come, and it is not known")
	}
	m.check()
}
