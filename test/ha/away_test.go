package ha

import (
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestALeaderThatIsAwayIsFollowed: it stands still beyond its Lease, as a suspended machine does, and then it waits for
// a stream that does not answer. Both times it ends, and nothing of it comes late.
func TestALeaderThatIsAwayIsFollowed(t *testing.T) {
	atLength(t)
	servers := natstest.NewServers(t, 1)
	w := newWorld(t, 2, servers)
	for _, c := range w.controllers {
		w.start(c)
	}
	w.create(4, 6)
	w.await(4)
	first, others := w.leader()
	if err := first.Pause(); err != nil {
		t.Fatal(err)
	}
	second := others[0]
	w.leads(second)
	w.await(10)
	if err := first.Continue(); err != nil {
		t.Fatal(err)
	}
	w.ends(first)
	w.start(first)

	servers[0].Pause()
	w.create(2, 3) // the leader sees them, and cannot store that
	w.ends(second)
	servers[0].Resume()
	w.leads(first)
	w.start(second)
	w.finish()
	w.judge()
}

// atLength skips a test that waits for several Leases to expire.
func atLength(t *testing.T) {
	t.Helper()
	if !effort.IsLong() {
		t.Skip("waits for Leases for minutes: JOBLEDGER_LONG=1")
	}
}
