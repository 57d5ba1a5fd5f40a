package ha

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestALeaderThatEndsIsFollowed: it is killed, and its standby takes over once the Lease has expired; killed again,
// started again, it stands by. The next leader is told to stop, and the first one leads again. No pod is made twice,
// and no Job is lost.
func TestALeaderThatEndsIsFollowed(t *testing.T) {
	w := newWorld(t, 2, natstest.NewServers(t, 1))
	for _, c := range w.controllers {
		w.start(c)
	}
	w.create(6, 6)
	w.await(6)
	first, others := w.leader()
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.create(3, 3)
	second, _ := w.leader()
	if second != others[0] {
		t.Fatal("another one leads than the standby")
	}
	w.await(20)
	w.start(first)
	if err := second.Stop(w.ctx); err != nil {
		t.Error(err)
	}
	if again, _ := w.leader(); again != first {
		t.Fatal("another one leads than the one that was started again")
	}
	w.create(2, 2)
	w.finish()
	w.judge()
}

// slowly are flags with which a standby asks for the Lease only once in 25 s.
var slowly = []string{
	"--leader-elect-retry-period", "25s", "--leader-elect-renew-deadline", "40s", "--leader-elect-lease-duration", "80s",
}

// TestALeaderThatStopsIsFollowedAtOnce: its standby reads in the stream that it has released its term, and takes the
// Lease then.
func TestALeaderThatStopsIsFollowedAtOnce(t *testing.T) {
	newWorld(t, 2, natstest.NewServers(t, 1), slowly...).stopsAndIsFollowed()
}

// TestAFollowedLeaderThatStopsIsFollowedAtOnce: its standby is told that it has the last record, and takes the Lease then.
func TestAFollowedLeaderThatStopsIsFollowedAtOnce(t *testing.T) {
	newFollowWorld(t, 2, slowly...).stopsAndIsFollowed()
}

// stopsAndIsFollowed stops the leader while Jobs run. The standby must take the Lease when it is released. By itself it
// would ask for it 25 s later at the earliest, and say then that it has acquired it.
func (w *world) stopsAndIsFollowed() {
	w.Helper()
	for _, c := range w.controllers {
		w.start(c)
	}
	w.create(6, 4)
	w.await(4)
	first, others := w.leader()
	next := others[0]
	stop := time.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- first.Stop(w.ctx) }() // ends with the controller
	w.leads(next)
	w.Logf("the standby leads %s after the leader was told to stop", time.Since(stop).Round(time.Millisecond))
	text, err := next.NewestOutput()
	if err := errors.Join(err, <-stopped); err != nil {
		w.Error(err)
	}
	taken, leads, asked := strings.Index(text, "taken at once"), strings.Index(text, leading),
		strings.Index(text, "Successfully acquired lease")
	if taken < 0 || taken > leads || asked >= 0 && asked < leads {
		w.Errorf("it did not take the Lease when it was released:\n%s", text)
	}
	w.finish()
	w.judge()
}

// TestThreeControllersOnThreeServers: the stream is held by three servers, of which one is killed under the leader, and
// then the leader itself, twice: each standby takes over once.
func TestThreeControllersOnThreeServers(t *testing.T) {
	atLength(t)
	servers := natstest.NewServers(t, 3)
	w := newWorld(t, 3, servers)
	for _, c := range w.controllers {
		w.start(c)
	}
	w.create(4, 4)
	w.await(2)
	servers[0].Kill()
	w.await(6)
	for n := range 2 {
		leader, _ := w.leader()
		if err := leader.Kill(); err != nil {
			t.Fatal(err)
		}
		w.create(2, 3)
		next, _ := w.leader()
		w.await(int32(10 + 6*n))
		if n == 0 {
			servers[0].Start()
		}
		w.start(leader)
		if again, _ := w.leader(); again != next {
			t.Error("the one that was killed leads at once")
		}
	}
	w.finish()
	w.judge()
}
