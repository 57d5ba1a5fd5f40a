package loop_test

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// TestASnapshotOverTheEndOfAFile: a snapshot is made, stream by stream. Meanwhile a Job comes, with a spec that an earlier Job stored,
// and goes again, and a new file begins. After a restart the controller still knows the spec to which the Job's first record refers.
func TestASnapshotOverTheEndOfAFile(t *testing.T) {
	m := newMachine(t)
	m.snapshotEvery, m.snapshotStep = 29, 1
	commands := []string{"start", "synced", "job one completions=7 suspend", "ended one/0 done", "gone one"}
	for i := range 10 {
		commands = append(commands, fmt.Sprintf("job n%d suspend", i))
	}
	commands = append(commands, "job two completions=7 suspend", "ended two/0 done", "gone two", "file") // the snapshot has begun
	for i := range 30 {
		commands = append(commands, fmt.Sprintf("job later%d suspend", i))
	}
	for _, command := range commands {
		m.do(command)
		if snapshot, ok := m.loop.TakeSnapshot(); ok {
			m.must(m.log.SaveSnapshot(t.Context(), snapshot))
			break
		}
	}
	if _, ok, err := m.log.LoadSnapshot(t.Context()); err != nil || !ok {
		t.Fatalf("there is no snapshot (%v)", err)
	}
	world, err := loop.Recover(t.Context(), m.log)
	m.must(err)
	if world.Job(events.JobStream("uid-n3")) == nil {
		t.Error("a Job is not known")
	}
}
