package crash

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// crash is one end of the process.
type crash struct {
	point string        // NAME:COUNT of a failpoint; empty: none
	after time.Duration // since the Jobs' creation, or since the start if the Jobs are older; ignored with a point alone
	stop  bool          // ask for an orderly stop this long after it is ready; the point is reached during the stop
	then  func(*trial)  // what a user does before the next start
}

func (c crash) String() string {
	switch {
	case c.stop:
		return fmt.Sprintf("at %s of a stop after %s", c.point, c.after)
	case c.point != "":
		return "at " + c.point
	}
	return "after " + c.after.String()
}

// trial is one row that runs.
type trial struct {
	t          *testing.T
	ctx        context.Context
	namespace  string
	dir        string
	controller *controller.Controller
	history    *history.History
	unended    func(history.Now) string // what the Jobs lack until nothing is left to do
	settled    func() string            // replaces unended in rows about CronJobs: what is missing until everything is done
	anchor     time.Time                // in these rows: the last due time that started before the row; zero: none
	broken     []ledger.Violation
}

func newTrial(t *testing.T) *trial {
	t.Helper()
	return newTrialOf(t, "")
}

// newTrialOf starts a row with a controller that runs with that --manage and further arguments; empty: the default.
func newTrialOf(t *testing.T, manage string, args ...string) *trial {
	t.Helper()
	ctx, cancel := patience.Context(t.Context())
	t.Cleanup(cancel)
	namespace, err := shared.CreateNamespace(ctx, "crash")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "jobledger-"+namespace+"-") //nolint:usetesting // t.TempDir is removed even after a failure
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := controller.NewUser(ctx, shared.ControlPlane, namespace, namespace, dir) // its own name in the audit log
	if err != nil {
		t.Fatal(err)
	}
	c := controller.New(controller.Config{Program: shared.Program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir, Manage: manage, Args: args})
	watching, end := context.WithCancel(ctx)
	h, err := history.Watch(watching, shared.Admin, namespace)
	if err != nil {
		end()
		t.Fatal(err)
	}
	x := &trial{t: t, ctx: ctx, namespace: namespace, dir: dir, controller: c, history: h, unended: unfinished}
	t.Cleanup(func() {
		if err := c.Kill(); err != nil {
			t.Error(err)
		}
		end()
		h.Wait()
		if t.Failed() {
			x.explain()
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return x
}

// createJobs creates the Jobs of a row; one of them is always the same.
func (x *trial) createJobs(indexed *batchv1.Job) {
	x.t.Helper()
	for _, job := range []*batchv1.Job{failingJob(), indexed} {
		if _, err := shared.Admin.BatchV1().Jobs(x.namespace).Create(x.ctx, job, metav1.CreateOptions{}); err != nil {
			x.t.Fatal(err)
		}
	}
}

// crash starts the controller and waits until it has ended as c says. It calls started once the process is started.
func (x *trial) crash(c crash, started func()) {
	x.t.Helper()
	var env []string
	if c.point != "" {
		env = []string{"JOBLEDGER_FAILPOINT=" + c.point}
	}
	if err := x.controller.Launch(env...); err != nil {
		x.t.Fatal(err)
	}
	started()
	if c.stop { // before it is ready, the signal ends the process at once
		if err := x.controller.Ready(x.ctx); err != nil {
			x.t.Fatal(err)
		}
	}
	if c.point == "" || c.stop {
		select {
		case <-time.After(c.after):
		case <-x.controller.Ended():
			x.t.Fatalf("jobledger ended by itself before the end that was to come %s", c)
		}
	}
	switch {
	case c.stop:
		if x.controller.Stop(x.ctx) == nil {
			x.t.Fatalf("jobledger stopped in good order before the end that was to come %s", c)
		}
		x.reached(c.point)
	case c.point != "":
		x.awaitEnd(c.point)
		x.reached(c.point)
	}
	if err := x.controller.Kill(); err != nil {
		x.t.Fatal(err)
	}
	x.t.Logf("%s: %s", c, x.progress())
	if c.then != nil {
		c.then(x)
	}
}

// awaitEnd waits until the process has ended by itself.
func (x *trial) awaitEnd(point string) {
	x.t.Helper()
	if err := x.comesTo(point); err != nil {
		x.t.Fatal(err)
	}
}

// comesTo waits until the process has ended by itself, or nothing is left to do. The last effect is seen before the
// process reaches the point after it. So comesTo asks for an orderly stop, in which everything in flight passes its
// points. A point that is not reached then is never reached.
func (x *trial) comesTo(point string) error {
	select {
	case <-x.controller.Ended():
		return nil
	case <-x.complete():
	}
	if !x.controller.Running() {
		return nil
	}
	if err := x.ctx.Err(); err != nil {
		return fmt.Errorf("%s was not reached: %w; %s", point, context.Cause(x.ctx), x.progress())
	}
	if x.controller.Stop(x.ctx) == nil {
		return fmt.Errorf("%s was not reached: nothing is left to do, and jobledger has stopped in good order; %s", point, x.progress())
	}
	return nil
}

// reached checks that the process has ended at the failpoint.
func (x *trial) reached(point string) {
	x.t.Helper()
	output, err := x.controller.Output()
	if err != nil {
		x.t.Fatal(err)
	}
	if !strings.Contains(output, "failpoint "+point+": killing process") {
		x.t.Fatalf("jobledger ended by itself before %s", point)
	}
}

// complete is closed when nothing is left to do, or when the row ends.
func (x *trial) complete() <-chan struct{} {
	done := make(chan struct{})
	go func() { // ends with the row
		defer close(done)
		if x.settled != nil {
			_ = x.await(x.settled)
			return
		}
		_ = x.history.Await(x.ctx, x.unended)
	}()
	return done
}

// progress returns how far the Jobs are.
func (x *trial) progress() string {
	n := x.history.Now()
	job := n.Jobs["indexed"]
	switch {
	case len(n.Jobs) == 0:
		return "before the Jobs"
	case job == nil:
		return fmt.Sprintf("%d Jobs, %d pods", len(n.Jobs), len(n.Pods))
	}
	held := 0
	for _, pod := range n.Pods {
		if ledger.Tracked(pod) {
			held++
		}
	}
	return fmt.Sprintf("%d pods, %d with the finalizer, %d counted", len(n.Pods), held, job.Status.Succeeded)
}

// recover starts the controller once more, waits for the Jobs to end, and checks everything that always holds.
func (x *trial) recover() {
	x.t.Helper()
	if err := x.controller.Start(x.ctx); err != nil {
		x.t.Fatal(err)
	}
	ctx, cancel := x.controller.While(x.ctx)
	defer cancel()
	if err := x.history.Await(ctx, x.unended); err != nil {
		x.violated(ledger.Read(ledger.Config{}, x.history.Changes()))
		x.t.Fatal(err)
	}
	if err := x.controller.Stop(x.ctx); err != nil {
		x.t.Fatal(err)
	}
	x.judge()
	if err := x.controller.Check(x.ctx); err != nil {
		x.t.Error(err)
	}
	output, err := x.controller.Output()
	if err != nil {
		x.t.Fatal(err)
	}
	refused, err := shared.Forbidden(x.namespace)
	if err != nil {
		x.t.Fatal(err)
	}
	if strings.Contains(output, "forbidden") || len(refused) > 0 {
		x.t.Errorf("jobledger asked for what a Job controller may not do: %v", refused)
	}
}

// judge checks the rules for the whole history, and for its end.
func (x *trial) judge() {
	x.t.Helper()
	book := ledger.Read(ledger.Config{}, x.history.Changes())
	for _, account := range book.Accounts() {
		account.Settle()
		if account.Job.Name == "indexed" {
			least, most := account.Failures()
			for _, wrong := range misstated(x.history.Now(), least, most) {
				x.t.Error(wrong)
			}
		}
	}
	x.violated(book)
}

// violated fails the row for violations.
func (x *trial) violated(book *ledger.Ledger) {
	x.t.Helper()
	x.broken = book.Violations()
	for _, wrong := range x.broken {
		x.t.Error(wrong)
	}
}

// explain prints where the log and the output of a failed row are, which are kept, and how to repeat it. It repeats the
// violations at the end, where people see them.
func (x *trial) explain() {
	x.t.Logf("To repeat it: cd test && go test -count=1 -run '^%s$' ./crash", strings.ReplaceAll(x.t.Name(), "/", "$/^"))
	x.t.Logf("The log and the output of each run are in %s", x.dir)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, name := range []string{"indexed", "failing"} {
		out, err := x.controller.CLI(ctx, "get", "job/"+name, "-n", x.namespace)
		x.t.Logf("jobledger get job/%s: %v\n%s", name, err, out)
	}
	for name, job := range x.history.Now().Jobs {
		x.t.Logf("status of job/%s: %+v", name, job.Status)
	}
	output, err := x.controller.Output()
	const most = 6000
	if len(output) > most {
		output = output[len(output)-most:]
	}
	x.t.Logf("The end of what jobledger wrote (%v):\n%s", err, output)
	if len(x.broken) > 0 {
		x.t.Log(ledger.Explain(x.broken, x.history))
	}
}

// loseLog removes the log, if the controller got as far as to make one, and the Lease that names it.
func (x *trial) loseLog() {
	x.t.Helper()
	if _, err := x.controller.LoseLog(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.t.Fatal(err)
	}
	if err := controller.DropLease(x.ctx, shared.Admin, x.namespace); err != nil {
		x.t.Fatal(err)
	}
}
