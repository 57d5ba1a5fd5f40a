package loop_test

import (
	"strconv"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/loop"
)

// rewound observes a rewind of the cluster as the informer reports it.
func (m *machine) rewound(args map[string]string) {
	n, err := strconv.ParseUint(args["version"], 10, 64)
	m.must(err)
	proof := events.Rewind{Resource: events.Jobs, Known: m.version, Found: n}
	m.version = n
	m.observe(
		&events.Observation{Facts: &events.EpochChanged{Reason: events.EpochClusterRewound, Rewind: proof}},
		&events.Observation{Facts: &events.ListingStarted{Reason: events.ListingRelisted, Resources: m.listed(nil)}})
}

// TestRewindBeginsAnotherEpoch: the record of the rewind begins a new identity. Pod names depend on it, and the next
// process keeps it. A snapshot of the epoch before is not used; a new one is made as soon as the cluster is listed.
func TestRewindBeginsAnotherEpoch(t *testing.T) {
	m := newMachine(t)
	for _, command := range []string{"start", "synced", "job demo", "ended demo/0 done uid=uid-demo#1", "pod demo#1"} {
		m.do(command)
	}
	m.loop.Snapshot()
	m.do("rewound version=50")
	if _, ok := m.loop.TakeSnapshot(); ok {
		t.Error("a snapshot of the life before the rewind is given out")
	}
	m.do("job demo")
	m.do("synced")
	snapshot, ok := m.loop.TakeSnapshot()
	if !ok || snapshot.Identity.Epoch != 2 {
		t.Errorf("a snapshot once the cluster is listed: %t, of %s", ok, snapshot.Identity)
	}
	m.must(m.log.SaveSnapshot(t.Context(), snapshot))
	if id := m.log.Identity(); id.Epoch != 2 {
		t.Errorf("the log is %s", id)
	}
	world, err := loop.Recover(t.Context(), m.log)
	m.must(err)
	if j := world.Job(events.JobStream("uid-demo")); world.Identity.Epoch != 2 || j == nil || j.Ordinal != 1 || j.PodCount() != 0 {
		t.Errorf("recovered: %s, %+v", world.Identity, j)
	}
}
