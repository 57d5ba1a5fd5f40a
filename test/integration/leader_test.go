package integration

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// electing returns the arguments of a controller with a Lease in the test's namespace. The Lease is short enough to
// wait for, and longer than a busy machine delays a renewal.
func (w *world) electing(more ...string) []string {
	return append([]string{
		"--metrics-bind-address=127.0.0.1:0",
		"--leader-elect-lease-duration=12s", "--leader-elect-renew-deadline=8s", "--leader-elect-retry-period=1s",
	}, more...)
}

// standby starts another controller, as its own user, with its own log unless one is given. It waits until the
// controller prints says. Unless it has another log, to take over with --adopt, it must also be ready meanwhile
// (O-035).
func (w *world) standby(log, says string, args ...string) (c *controller.Controller, user string) {
	w.t.Helper()
	user = w.namespace + "-standby"
	w.users = append(w.users, user)
	dir := filepath.Join(w.dir, "standby")
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	kubeconfig, err := controller.NewUser(w.t.Context(), w.cp, user, w.namespace, dir)
	if err != nil {
		w.t.Fatal(err)
	}
	c = controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Namespace: w.namespace, Dir: dir, Log: log, Args: w.electing(args...),
	})
	w.controllers = append(w.controllers, c)
	if err := c.Launch(); err != nil {
		w.t.Fatal(err)
	}
	address := w.metricsAddress(c.Output)
	w.says(c, says)
	want := map[string]int{"/readyz": http.StatusOK, "/livez": http.StatusOK, "/healthz": http.StatusOK}
	if slices.Contains(args, "--adopt") {
		want["/readyz"] = http.StatusInternalServerError
	}
	for path, want := range want {
		if got := w.status(address + path); got != want {
			w.t.Errorf("%s of a standby: %d, want %d (O-035)", path, got, want)
		}
	}
	w.leads(c, 0)
	return c, user
}

// leads checks the controller's metric of whether it holds the Lease: 1 or 0.
func (w *world) leads(c *controller.Controller, want int) {
	w.t.Helper()
	line := fmt.Sprintf("\nleader_election_master_status{name=\"jobledger\"} %d\n", want)
	if _, text := w.get(w.metricsAddress(c.Output) + "/metrics"); !strings.Contains(string(text), line) {
		w.t.Errorf("the metrics have no line %q", line)
	}
}

// says waits until a controller has written text.
func (w *world) says(c *controller.Controller, text string) {
	w.t.Helper()
	w.eventually("the controller says "+text, func() (bool, error) {
		all, err := c.Output()
		return strings.Contains(all, text), err
	})
}

func (w *world) finishes(name string) {
	w.t.Helper()
	w.eventually("Job "+name+" finishes", func() (bool, error) {
		j := w.job(name)
		return condition(j, batchv1.JobComplete) != nil, nil
	})
	w.letGo(name)
}

// O-022: of two processes on one log one works. When it is killed, the other learns from the LOCK that the holder of
// the Lease has ended, and does not wait until the Lease expires.
// O-035: a standby is healthy and ready.
// O-073: the metric of leadership is 0 on a standby and 1 on the holder of the Lease.
//
// TestStandbyTakesOver kills the one that works.
func TestStandbyTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.newController("", w.electing()...)
	w.start(first)
	second, _ := w.standby(first.Log(), `msg="another process has the log open: waiting"`)
	w.create(newJob("before"))
	w.finishes("before")

	killed := time.Now()
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	w.create(newJob("after"))
	ctx, cancel := patience.Context(t.Context())
	defer cancel()
	if err := second.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	t.Logf("the second one works %s after the first was killed", time.Since(killed).Round(time.Millisecond))
	if output, err := second.Output(); err != nil || !strings.Contains(output, tookOver) {
		t.Errorf("the second one waited for the Lease: %v\n%s", err, output)
	}
	w.leads(second, 1)
	w.finishes("after")

	object, err := w.client.CoordinationV1().Leases(w.namespace).Get(t.Context(), "jobledger", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a := object.Annotations; len(a["jobledger.dev/log-id"]) != 32 || a["jobledger.dev/log-epoch"] != "1" || a["jobledger.dev/log-head"] == "" {
		t.Errorf("the Lease says of the log %v", a)
	}
	w.eventually("users are told who leads", func() (bool, error) {
		list, err := w.client.CoreV1().Events(w.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=LeaderElection"})
		if err != nil {
			return false, err
		}
		leaders := map[string]bool{}
		for _, e := range list.Items {
			if who, ok := strings.CutSuffix(e.Message, " became leader"); ok && e.InvolvedObject.Kind == "Lease" {
				leaders[who] = true
			}
		}
		return len(leaders) == 2, nil
	})
	records, err := second.Records(ctx)
	if err != nil {
		t.Fatal(err)
	}
	led := 0
	for _, r := range records {
		if r.Kind == "LeadershipChanged" {
			led++
		}
	}
	if led != 2 {
		t.Errorf("%d records of leadership, want one for each process", led)
	}
}

// O-021: a process that lost the Lease exits with code 1.
// O-023: a process that hangs while another takes the Lease notices this before it writes anything.
//
// TestWhoLosesTheLeaseWritesNothingMore stops a process for a while. The other one has its own log, because a process
// that hangs keeps the LOCK of its log.
func TestWhoLosesTheLeaseWritesNothingMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.told = []string{"the Lease is lost", "retrieving lease lock", "reading response body"} // client-go also reports requests that stood still
	first := w.newController("", w.electing()...)
	w.start(first)
	second, heir := w.standby("", `msg="another controller holds the Lease: waiting"`, "--adopt")
	w.create(newJob("before"))
	w.finishes("before")

	if err := first.Pause(); err != nil {
		t.Fatal(err)
	}
	w.says(second, "msg=leading")
	w.create(newJob("after", parallelism(3), completions(3)))
	before := w.written(nil)
	if err := first.Continue(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Ended():
	case <-time.After(patience.Time()):
		t.Fatal("the first one goes on without the Lease")
	}
	if err := first.Failed(); err == nil || err.Error() != "exit status 1" {
		t.Errorf("it ended with %v, want exit status 1 (O-021)", err)
	}
	w.finishes("after")
	if after := w.written(nil); !equal(before, after) {
		t.Errorf("it wrote %v before it stood still, and %v in all", before, after)
	}
	made, err := w.cp.CountWrites(func(x controlplane.Write) bool { return x.User == heir && x.Verb == "create" && x.Resource == "pods" })
	if err != nil {
		t.Fatal(err)
	}
	if len(made) == 0 {
		t.Error("the pods were not made by the one that has the Lease: this tests nothing")
	}
	w.says(first, "the Lease is lost")
}

func equal(a, b map[string]int) bool {
	if len(a) != len(b) {
		return false
	}
	for k, n := range a {
		if b[k] != n {
			return false
		}
	}
	return true
}

// TestAnotherLogIsRefused: section Identity of the design. The Lease names the log that runs the Jobs. Another log is
// accepted only with --adopt, and an older copy only with a new epoch.
func TestAnotherLogIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.told = []string{"--adopt", "--force-new-epoch=2"}
	refused := func(c *controller.Controller, why, flag string) {
		t.Helper()
		if err := c.Launch(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-c.Ended():
		case <-time.After(patience.Time()):
			t.Fatalf("it runs, though %s", why)
		}
		if err := c.Failed(); err == nil || err.Error() != "exit status 1" {
			t.Errorf("it ended with %v, want exit status 1", err)
		}
		text, err := c.Output()
		if err != nil || !strings.Contains(text, why) || !strings.Contains(text, flag) {
			t.Errorf("%v; it said\n%s\nwant %q and %s", err, text, why, flag)
		}
	}
	first := w.newController("", w.electing()...)
	w.start(first)
	w.create(newJob("one"))
	w.finishes("one")
	w.stop(first)

	copied := first.Log() + ".copy"
	if err := os.CopyFS(copied, os.DirFS(first.Log())); err != nil {
		t.Fatal(err)
	}
	w.start(first)
	w.create(newJob("two"))
	w.finishes("two")
	w.stop(first)

	other := controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: w.kubeconfig, Namespace: w.namespace, Dir: t.TempDir(), Args: w.electing(),
	})
	refused(other, "there is no log in", "--adopt")
	if _, err := os.Stat(other.Log()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is refused made a log: %v", err)
	}
	aside, err := first.LoseLog()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, first.Log()); err != nil {
		t.Fatal(err)
	}
	refused(first, "it is an older copy", "--force-new-epoch=2")
	if err := os.RemoveAll(first.Log()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, first.Log()); err != nil {
		t.Fatal(err)
	}

	adopter := w.newController("", w.electing("--adopt")...)
	w.start(adopter)
	w.create(newJob("three"))
	w.finishes("three")
	refused(first, "(stop that controller first), and the one in", "--adopt")
	w.create(newJob("four"))
	w.finishes("four")
	w.stop(adopter)
	refused(first, "and the one in", "--adopt")
}
