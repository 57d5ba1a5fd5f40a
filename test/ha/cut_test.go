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
		return strings.Contains(text, leading) || strings.Contains(text, "standing by: all that the stream has is read"), err
	})
	if err != nil {
		w.Fatal("it does not stand by: ", err)
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
	err := patience.Until(w.ctx, 20*time.Millisecond, away.Ended(), func() (bool, error) {
		text, err := away.NewestOutput()
		return strings.Contains(text, "this standby is behind"), err
	})
	if err != nil {
		t.Fatal("it does not say that it is behind: ", err)
	}
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
