package loop_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/memlog"
)

func TestALogWithoutRoomTakesNothing(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	before := m.log.Head()
	m.log.SetLimit(1)
	o := &events.Observation{Facts: &events.Synced{Resources: []events.Resource{events.Jobs}, Versions: []uint64{1}}}
	n, err := m.loop.Turn(m.now, []loop.Input{{Observation: o}})
	if n != 0 || !errors.Is(err, store.ErrNoRoom) {
		t.Errorf("took %d inputs, %v; want none, and ErrNoRoom", n, err)
	}
	if m.log.Head() != before {
		t.Error("something was appended all the same")
	}
	m.log.SetLimit(0)
	if n, err := m.loop.Turn(m.now, []loop.Input{{Observation: o}}); n != 1 || err != nil {
		t.Errorf("with room again: took %d inputs, %v", n, err)
	}
}

func TestACriticalKindOfANewerProgramIsRefused(t *testing.T) {
	for _, row := range []struct {
		name     string
		critical bool
	}{
		{"a critical kind ends the recovery", true},
		{"another kind is passed over", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			log := memlog.New(events.Identity{LogID: "0f", Epoch: 1})
			header := events.Header{Sequence: 1, Time: 1, Stream: events.Controller, Kind: events.KindLogCreated, Critical: true, Last: true}
			log.Append(events.Batch{Records: []events.Record{
				{Header: header, Facts: &events.LogCreated{LogID: "0f", Epoch: 1, Format: events.Format}},
			}}, true)
			header = events.Header{
				Sequence: 2, Time: 1, Stream: events.Controller, Previous: 1, Kind: 4711, Critical: row.critical, Last: true,
			}
			log.Append(events.Batch{Records: []events.Record{{Header: header, Facts: &events.Unknown{Bytes: []byte{8, 1}}}}}, true)
			_, err := loop.Recover(t.Context(), log)
			if errors.Is(err, loop.ErrNewerLog) != row.critical {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCommandsWaitForTheirRecord is invariant 1: no command leaves before the record that decided it is durable.
func TestCommandsWaitForTheirRecord(t *testing.T) {
	m := newMachine(t)
	m.log = memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}, memlog.Manual())
	m.do("start")
	m.do("synced")
	m.do("job demo")
	m.log.Commit(2)
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 0 {
		t.Fatalf("%d commands left before their record was durable", len(tasks))
	}
	m.log.Commit(1)
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 1 {
		t.Fatalf("%d commands left once their record was durable, want 1", len(tasks))
	}
}

// TestAStopGivesBackWhatWasNotSent: a command whose record is not durable when the stop comes never leaves, and the log says
// so; one that had left is waited for.
func TestAStopGivesBackWhatWasNotSent(t *testing.T) {
	m := newMachine(t)
	m.do("start")
	m.do("synced")
	m.do("job sent")
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 1 {
		t.Fatalf("%d commands left, want 1", len(tasks))
	}
	m.do("job waiting")
	m.loop.Stop(m.now)
	if tasks, _ := m.loop.Durable(m.log.Head().Sequence); len(tasks) != 0 {
		t.Errorf("%d commands left after the stop", len(tasks))
	}
	for name, want := range map[string]int{"sent": 1, "waiting": 0} {
		job := m.loop.World().Job(events.JobStream(types.UID("uid-" + name)))
		if got := len(job.Creates()); got != want {
			t.Errorf("of Job %s %d creates are in flight, want %d", name, got, want)
		}
	}
	m.check()
	m.do("start")
	m.do("synced")
	m.check()
}
