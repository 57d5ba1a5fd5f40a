package ha

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// becomes gives controller i other arguments. It keeps its log and its user.
func (w *world) becomes(i int, args []string) *controller.Controller {
	w.Helper()
	config := w.configs[i]
	config.Log, config.Args = w.controllers[i].Log(), args
	var err error
	if config.Dir, err = os.MkdirTemp(w.dir, fmt.Sprintf("controller-%d-", i+1)); err != nil {
		w.Fatal(err)
	}
	w.controllers[i] = controller.New(config)
	return w.controllers[i]
}

// way starts both controllers with other arguments, the one that led last first, and runs Jobs.
func (w *world) way(first, second []string) {
	w.Helper()
	a, b := w.becomes(0, first), w.becomes(1, second)
	w.start(a)
	w.leads(a)
	w.start(b)
	w.jobsRun()
}

// jobsRun makes Jobs, and returns while they run.
func (w *world) jobsRun() {
	w.Helper()
	w.create(3, 4)
	w.await(int32(12*(len(w.jobs)/3) - 6))
}

// allStop stops the standby first. The leader writes more then, and stops.
func (w *world) allStop() {
	w.Helper()
	if err := w.controllers[1].Stop(w.ctx); err != nil {
		w.Fatal(err)
	}
	w.await(int32(12*(len(w.jobs)/3) - 2))
	if err := w.controllers[0].Stop(w.ctx); err != nil {
		w.Fatal(err)
	}
}

// refuses starts a controller that ends by itself, and says why.
func (w *world) refuses(c *controller.Controller, why string) {
	w.Helper()
	if err := c.Launch(); err != nil {
		w.Fatal(err)
	}
	w.ends(c)
	if text, err := c.NewestOutput(); err != nil || !strings.Contains(text, why) {
		w.Errorf("it does not say %q, %v:\n%s", why, err, text)
	}
}

// clones makes a clone beside the controllers, and verifies that it is a part of the log of the first one.
func (w *world) clones(from string) {
	w.Helper()
	to := filepath.Join(w.dir, fmt.Sprintf("clone-%d", len(w.jobs)))
	text, err := exec.CommandContext(w.ctx, w.program, "clone", "--from", from, "--to", to).CombinedOutput()
	if err != nil {
		w.Fatalf("clone: %v\n%s", err, text)
	}
	text, err = exec.CommandContext(w.ctx, w.program, "verify", "--log", to).CombinedOutput()
	if err != nil {
		w.Fatalf("verify: %v\n%s", err, text)
	}
	w.copies = append(w.copies, to)
}

// TestTheWayThereAndBack: one controller, two that follow each other, two with a stream, two that follow each other
// again, and one. Jobs run all the time. Each way takes only the log that led last, and each log goes on as one chain in
// one epoch. In each way a clone is made beside the controllers.
func TestTheWayThereAndBack(t *testing.T) {
	atLength(t)
	w := newFollowWorld(t, 2)
	servers := natstest.NewServers(t, 1)
	follow := [][]string{w.configs[0].Args, w.configs[1].Args}
	replicate := []string{"--log-key-file", w.key, "--replicate", servers.URL(), "--replicate-unsafe"}

	one := w.becomes(0, nil)
	w.start(one)
	w.leads(one)
	w.jobsRun()
	w.clones(one.Log())
	if err := one.Stop(w.ctx); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(one.Log(), "KEY"))
	if err == nil {
		err = os.WriteFile(w.key, key, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}

	w.way(follow[0], follow[1])
	w.clones(w.controllers[1].Log())
	w.allStop()
	w.refuses(w.becomes(1, replicate), "does not show that this one is whole")

	w.way(replicate, replicate)
	w.clones(servers.URL() + "/jobledger-log")
	w.allStop()
	w.refuses(w.becomes(1, []string{"--alone"}), "does not show that this one is whole")
	w.refuses(w.becomes(0, nil), "start it with --alone")

	w.way(follow[0], follow[1])
	w.clones(w.controllers[0].Log())
	w.allStop()
	w.refuses(w.becomes(0, nil), "start that one with --alone")

	one = w.becomes(0, []string{"--alone"})
	w.start(one)
	w.leads(one)
	w.jobsRun()
	w.finish()
	w.judge()
	if all := w.epochs(one); len(all) > 0 || len(w.branches()) > 0 {
		t.Errorf("%d epochs began, and there are branches %v, though all stopped in good order", len(all), w.branches())
	}
	w.areParts(one)
}

// areParts checks that the clones are beginnings of the log of a controller.
func (w *world) areParts(of *controller.Controller) {
	w.Helper()
	for _, dir := range w.copies {
		text, err := exec.CommandContext(w.ctx, w.program, "verify", "--log", dir).CombinedOutput()
		head := string(text[strings.LastIndex(string(text), "head ")+1:])
		var at uint64
		var hash string
		if _, err1 := fmt.Sscanf(head, "ead %d %s", &at, &hash); err != nil || err1 != nil {
			w.Fatalf("verify: %v, %v\n%s", err, err1, text)
		}
		text, err = exec.CommandContext(w.ctx, w.program, "verify", "--log", of.Log(), "--has", fmt.Sprintf("%d:%s", at, hash)).CombinedOutput()
		if err != nil {
			w.Errorf("the clone in %s is no part of the log: %v\n%s", dir, err, text)
		}
	}
}
