package loop_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
	"github.com/jobledger/jobledger/store"
)

// TestASnapshotOverTheEndOfAFile: a snapshot is made, stream by stream. Meanwhile a Job comes, with a spec that an
// earlier Job stored, and goes again, and a new file begins. After a restart the controller still knows the spec of
// that Job's first record.
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

// TestASnapshotOutOfRange: a snapshot has a number that no controller writes. The snapshot is not used: the log is
// folded from its first record on, and the number leaves no trace in the world.
func TestASnapshotOutOfRange(t *testing.T) {
	m := newMachine(t)
	m.snapshotEvery, m.snapshotStep = 8, 64
	for _, command := range []string{"start", "synced", "job one completions=7", "job two suspend", "ended one/0 done", "job three suspend"} {
		m.do(command)
		if snapshot, ok := m.loop.TakeSnapshot(); ok {
			m.must(m.log.SaveSnapshot(t.Context(), snapshot))
			break
		}
	}
	whole, ok, err := m.log.LoadSnapshot(t.Context())
	if err != nil || !ok {
		t.Fatalf("there is no snapshot (%v)", err)
	}
	right, err := loop.Recover(t.Context(), m.log)
	m.must(err)
	job := events.JobStream("uid-one")
	for _, row := range []struct {
		name   string
		stream events.Stream
		add    []byte // appended to the state: if a field is there twice, the last one counts
	}{
		{"the next ordinal of a Job's pods", job, protowire.AppendVarint(protowire.AppendTag(nil, 16, protowire.VarintType), 1<<63)},
		{"the time of a Job", job, protowire.AppendFixed64(protowire.AppendTag(nil, 3, protowire.Fixed64Type), 1<<63)},
		{"the time of the controller's state", events.Controller, protowire.AppendFixed64(protowire.AppendTag(nil, 3, protowire.Fixed64Type), 1<<63)},
	} {
		forged := whole
		forged.Streams = slices.Clone(whole.Streams)
		at := slices.IndexFunc(forged.Streams, func(s store.StreamSnapshot) bool { return s.Stream == row.stream && len(s.State) > 0 })
		if at < 0 {
			t.Fatalf("%s: the snapshot has no state of %s", row.name, row.stream)
		}
		state := slices.Concat(forged.Streams[at].State, row.add)
		if err := events.CheckState(row.stream, state, nil); err == nil {
			t.Fatalf("%s: it is in its range: this tests nothing", row.name)
		}
		forged.Streams[at].State = state
		m.must(m.log.SaveSnapshot(t.Context(), forged))
		world, err := loop.Recover(t.Context(), m.log)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		got, _, _ := world.StreamState(job)
		want, _, _ := right.StreamState(job)
		if !bytes.Equal(got, want) || !bytes.Equal(world.ControllerFacts(), right.ControllerFacts()) {
			t.Errorf("%s: the world is another than by the records", row.name)
		}
	}
}
