package ha

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/test/internal/controller"
)

// started starts a world's controllers, one after the other, and gives the one that leads and the other.
func (w *world) started() (leader, standby *controller.Controller) {
	w.Helper()
	for _, c := range w.controllers {
		w.start(c)
	}
	leader, others := w.leader()
	return leader, others[0]
}

// TestAStandbyFollowsALeaderThatIsKilled: the leader is killed while Jobs run, and its standby, which stood still for the
// moment before, leads in a new epoch, which says what may be missing. Started again, the first one keeps what the
// standby had not got as a branch, follows, and leads when the second one stops in good order: in the same epoch, since
// nothing is missing then.
func TestAStandbyFollowsALeaderThatIsKilled(t *testing.T) {
	w := newFollowWorld(t, 2)
	first, second := w.started()
	w.shows(first, "replicas_heard 1", "behind_seconds 0", "branches 0")
	w.shows(second, "replicas_heard 1", "branches 0")
	w.create(6, 6)
	w.await(6)
	if err := second.Pause(); err != nil {
		t.Fatal(err)
	}
	w.create(1, 1) // its pod ends later than the answer for which the standby was waiting
	w.succeeds(w.jobs[len(w.jobs)-1])
	if err := errors.Join(first.Kill(), second.Continue()); err != nil {
		t.Fatal(err)
	}
	w.create(3, 3)
	w.leads(second)
	w.await(20)
	w.start(first)
	w.shows(first, "replicas_heard 1", "branches 1")
	w.shows(second, "replicas_heard 1", "behind_seconds 0")
	if err := second.Stop(w.ctx); err != nil {
		t.Error(err)
	}
	w.leads(first)
	w.create(2, 2)
	w.finish()
	w.judge()
	w.bounds(first)
	if all := w.epochs(first); len(all) != 1 || len(w.branches()) != 1 {
		t.Errorf("%d epochs began, and the branches are %v: one leader was killed with records that no other had, and one "+
			"stopped in good order", len(all), w.branches())
	}
}

// TestTwoFollowersStopInGoodOrder: each stop gives the log to the other one, and no epoch ends.
func TestTwoFollowersStopInGoodOrder(t *testing.T) {
	atLength(t)
	w := newFollowWorld(t, 2)
	leader, standby := w.started()
	w.create(4, 8)
	for n := range int32(4) {
		w.await(2 + 6*n)
		if err := leader.Stop(w.ctx); err != nil {
			t.Error(err)
		}
		w.leads(standby)
		w.start(leader)
		leader, standby = standby, leader
	}
	w.finish()
	w.judge()
	if all := w.epochs(leader); len(all) > 0 || len(w.branches()) > 0 {
		t.Errorf("%d epochs began, and there are branches %v, though all stopped in good order", len(all), w.branches())
	}
}

// TestAFollowedLeaderStandsStill: beyond its Lease, as a suspended machine does. Woken, it sends nothing, ends, and
// follows.
func TestAFollowedLeaderStandsStill(t *testing.T) {
	atLength(t)
	w := newFollowWorld(t, 2)
	first, second := w.started()
	w.create(4, 6)
	w.await(4)
	if err := first.Pause(); err != nil {
		t.Fatal(err)
	}
	w.leads(second)
	w.await(10)
	if err := first.Continue(); err != nil {
		t.Fatal(err)
	}
	w.ends(first)
	w.start(first)
	w.finish()
	w.judge()
	w.bounds(second)
}

// TestAFollowedLeaderIsKilledOften: each time the other one leads, in turn.
func TestAFollowedLeaderIsKilledOften(t *testing.T) {
	atLength(t)
	w := newFollowWorld(t, 2)
	leader, standby := w.started()
	const kills = 5
	for n := range int32(kills) {
		w.create(20, 2)
		w.await(n*40 + 8)
		if err := leader.Kill(); err != nil {
			t.Fatal(err)
		}
		w.leads(standby)
		w.start(leader)
		leader, standby = standby, leader
	}
	w.finish()
	w.judge()
	w.bounds(leader)
	if all := w.epochs(leader); len(all) != kills {
		t.Errorf("%d epochs began after %d kills", len(all), kills)
	}
}

// TestThreeThatFollow: of two standbys one leads, and the other one follows it then. Three leaders are killed, one after
// the other.
func TestThreeThatFollow(t *testing.T) {
	atLength(t)
	w := newFollowWorld(t, 3)
	for _, c := range w.controllers {
		w.start(c)
	}
	leader, _ := w.leader()
	const kills = 3
	for n := range int32(kills) {
		w.create(6, 3)
		w.await(n*18 + 6)
		if err := leader.Kill(); err != nil {
			t.Fatal(err)
		}
		next, _ := w.leader()
		w.await(n*18 + 12)
		w.start(leader)
		leader = next
	}
	w.finish()
	w.judge()
	w.bounds(leader)
	if all := w.epochs(leader); len(all) != kills {
		t.Errorf("%d epochs began after %d kills", len(all), kills)
	}
}

// TestAFollowerThatLostItsDiskCopies: its directory is empty, and it leads when the leader is killed.
func TestAFollowerThatLostItsDiskCopies(t *testing.T) {
	atLength(t)
	w := newFollowWorld(t, 2)
	first, second := w.started()
	w.create(3, 4)
	w.await(8)
	if err := second.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.LoseLog(); err != nil {
		t.Fatal(err)
	}
	w.start(second)
	w.create(2, 3)
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.leads(second)
	w.start(first)
	w.finish()
	w.judge()
	w.bounds(second)
}

// TestAKilledLeaderIsStartedAgainAtOnce: it has its own log again, so it goes on at once and in its epoch.
func TestAKilledLeaderIsStartedAgainAtOnce(t *testing.T) {
	atLength(t)
	w := newFollowWorld(t, 2)
	first, _ := w.started()
	w.create(4, 4)
	w.await(4)
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.start(first) // its LOCK shows that the holder of the Lease has ended
	w.leads(first)
	w.finish()
	w.judge()
	if all := w.epochs(first); len(all) > 0 {
		t.Errorf("%d epochs began, though the leader has its own log again", len(all))
	}
	if _, err := os.Stat(filepath.Join(first.Log(), "FOLLOWS")); err != nil {
		t.Error(err)
	}
	text, err := first.Output()
	if err != nil || !strings.Contains(text, "msg=leading") {
		t.Error(err)
	}
}
