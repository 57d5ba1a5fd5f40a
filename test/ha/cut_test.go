package ha

import (
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// launch starts a controller of another network, whose ports are not reached from here, and returns when it says that
// it leads, or stands by with all that the stream has.
func (w *world) launch(c *controller.Controller) {
	w.Helper()
	if err := c.Launch(); err != nil {
		w.Fatal(err)
	}
	err := patience.Until(w.ctx, 20*time.Millisecond, c.Ended(), func() (bool, error) {
		text, err := c.NewestOutput()
		return strings.Contains(text, leading) || strings.Contains(text, "standing by: all that there is of the log is read"), err
	})
	if err != nil {
		w.Fatal("it does not stand by: ", err)
	}
}

// says waits until the newest run of a controller has said something.
func (w *world) says(c *controller.Controller, what string) {
	w.Helper()
	err := patience.Until(w.ctx, 20*time.Millisecond, c.Ended(), func() (bool, error) {
		text, err := c.NewestOutput()
		return strings.Contains(text, what), err
	})
	if err != nil {
		w.Fatalf("it does not say %q: %v", what, err)
	}
}

// TestALeaderThatIsCutOffIsFollowed: what it sends to NATS, or to the API server, goes nowhere. It ends by itself, and
// writes nothing once the other one leads.
func TestALeaderThatIsCutOffIsFollowed(t *testing.T) {
	atLength(t)
	for sentence, from := range map[string]func(*network) string{
		"from NATS":           func(n *network) string { return n.nats },
		"from the API server": func(n *network) string { return n.api },
	} {
		t.Run(sentence, func(t *testing.T) {
			of, networks := apart(t)
			w := newWorldOf(t, 2, natstest.NewServers(t, 1), of)
			first, second := w.controllers[0], w.controllers[1]
			w.launch(first)
			w.launch(second)
			w.create(4, 6)
			w.await(4)
			n := (*networks)[0]
			n.cut(from(n))
			w.create(2, 3)
			w.leads(second)
			took := time.Now()
			w.ends(first)
			w.finish()
			w.nothingLate(w.users[0], took)
			n.mend(from(n))
			w.launch(first)
			w.create(1, 2)
			w.finish()
			w.judge()
		})
	}
}

// TestAStandbyThatIsCutOffFromNATSTakesNothing: of two standbys the one leads that reaches the stream.
func TestAStandbyThatIsCutOffFromNATSTakesNothing(t *testing.T) {
	atLength(t)
	of, networks := apart(t)
	w := newWorldOf(t, 3, natstest.NewServers(t, 1), of)
	leader, away, near := w.controllers[0], w.controllers[1], w.controllers[2]
	for _, c := range w.controllers {
		w.launch(c)
	}
	w.create(4, 4)
	w.await(4)
	n := (*networks)[1]
	n.cut(n.nats)
	w.says(away, "this standby is behind")
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	w.create(2, 3)
	w.leads(near)
	if text, err := away.NewestOutput(); err != nil || strings.Contains(text, leading) {
		t.Errorf("the one that is cut off leads, %v", err)
	}
	n.mend(n.nats)
	w.finish()
	w.launch(leader)
	w.judge()
}

// TestAFollowerThatIsCutOffFromItsLeader: it says that it is behind, and takes nothing from a leader that goes on. When
// the way is there again it has all, and leads when the leader is killed.
func TestAFollowerThatIsCutOffFromItsLeader(t *testing.T) {
	atLength(t)
	w, networks := newFollowWorldApart(t, 2)
	first, second := w.controllers[0], w.controllers[1]
	w.launch(first)
	w.launch(second)
	w.create(4, 4)
	w.await(4)
	networks[1].cut(networks[1].peers)
	w.says(second, "this standby is behind")
	w.create(2, 3)
	w.finish()
	if text, err := second.NewestOutput(); err != nil || strings.Contains(text, leading) {
		t.Errorf("the one that is cut off leads, %v", err)
	}
	networks[1].mend(networks[1].peers)
	w.create(4, 4)
	w.await(24)
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.leads(second)
	w.launch(first)
	w.finish()
	w.judge()
	w.bounds(second)
}

// TestAFollowedLeaderThatIsCutOffFromTheAPIServer: it ends by itself, and sends nothing once the other one leads. Started
// again it follows.
func TestAFollowedLeaderThatIsCutOffFromTheAPIServer(t *testing.T) {
	atLength(t)
	w, networks := newFollowWorldApart(t, 2)
	first, second := w.controllers[0], w.controllers[1]
	w.launch(first)
	w.launch(second)
	w.create(4, 6)
	w.await(4)
	networks[0].cut(networks[0].api)
	w.create(2, 3)
	w.leads(second)
	took := time.Now()
	w.ends(first)
	w.finish()
	w.nothingLate(w.users[0], took)
	networks[0].mend(networks[0].api)
	w.launch(first)
	w.create(1, 2)
	w.finish()
	w.judge()
	w.bounds(second)
}
