package integration

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// world is one test's namespace, and the controllers that ran in it.
type world struct {
	t          *testing.T
	cp         *controlplane.ControlPlane
	client     kubernetes.Interface
	namespace  string // also the name of the controllers' user
	kubeconfig string
	users      []string // other users of controllers of this test
	dir        string
	web        *http.Client // for requests to the controllers; nil: http.DefaultClient
	alone      bool         // no other test uses the control plane, so an installation may watch all of it
	rough      bool         // the API server, or a right, goes away in this test, so errors are allowed
	told       []string     // errors that this test causes, which are allowed

	controllers []*controller.Controller
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOn(t, shared.ControlPlane)
}

func newWorldOn(t *testing.T, cp *controlplane.ControlPlane) *world {
	t.Helper()
	w := &world{t: t, cp: cp}
	var err error
	if w.client, err = kubernetes.NewForConfig(cp.RESTConfig()); err != nil {
		t.Fatal(err)
	}
	if w.namespace, err = cp.CreateNamespace(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if w.dir, err = os.MkdirTemp("", "jobledger-"+w.namespace+"-"); err != nil { //nolint:usetesting // kept after a failure
		t.Fatal(err)
	}
	if w.kubeconfig, err = controller.NewUser(t.Context(), cp, w.namespace, w.namespace, w.dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.end)
	return w
}

// newController makes a controller that does not run yet. manage is the value of --manage, empty: the default; args are
// further arguments.
func (w *world) newController(manage string, args ...string) *controller.Controller {
	dir := fmt.Sprintf("%s/controller-%d", w.dir, len(w.controllers)+1)
	if err := os.Mkdir(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
	c := controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: w.kubeconfig, Namespace: w.namespace, Dir: dir, Manage: manage, Args: args,
	})
	w.controllers = append(w.controllers, c)
	return c
}

// run makes a controller and starts it.
func (w *world) run(manage string, args ...string) *controller.Controller {
	w.t.Helper()
	c := w.newController(manage, args...)
	w.start(c)
	return c
}

func (w *world) start(c *controller.Controller) {
	w.t.Helper()
	ctx, cancel := patience.Context(w.t.Context())
	defer cancel()
	if err := c.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) stop(c *controller.Controller) {
	w.t.Helper()
	ctx, cancel := patience.Context(context.Background()) // also at the end of the test
	defer cancel()
	if err := c.Stop(ctx); err != nil {
		w.t.Error(err)
	}
}

// end checks, at the end of every test, the rules for every controller that it ran.
func (w *world) end() {
	for _, c := range w.controllers {
		w.stop(c)
	}
	w.checkRights()
	for _, c := range w.controllers {
		w.checkOutput(c)
		ctx, cancel := patience.Context(context.Background())
		if err := c.Check(ctx); err != nil {
			w.t.Errorf("at the end of the test: %v", err)
		}
		cancel()
	}
	if w.t.Failed() {
		w.t.Logf("Logs and output of the controllers are in %s", w.dir)
		return
	}
	if err := os.RemoveAll(w.dir); err != nil {
		w.t.Error(err)
	}
}

// checkRights reports requests that the API server forbade the controllers (J-249). A restarted server knows no roles
// at first, so if it goes away, or rights are removed, the check is skipped.
func (w *world) checkRights() {
	if w.rough {
		return
	}
	for _, user := range append(w.users, w.namespace) {
		refused, err := w.cp.Forbidden(user)
		if err != nil {
			w.t.Error(err)
		}
		for _, x := range refused {
			w.t.Errorf("no role lets the controller %s %s: %s", x.Verb, x.Resource, x.Message)
		}
	}
}

// checkOutput reports output that no run may have: a forbidden request, a panic or a data race.
func (w *world) checkOutput(c *controller.Controller) {
	text, err := c.Output()
	if err != nil {
		w.t.Error(err)
	}
	never := []string{"panic:", "DATA RACE"}
	if !w.rough { // a newly started API server forbids everything until it has read its roles %PART
		// J-249: every test runs with exactly the rights of the built-in controller's role, and is forbidden nothing.
		// J-250: beyond that it needs only the Lease.
		never = append(never, "level=ERROR", "forbidden")
	}
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(w.told, func(text string) bool { return strings.Contains(line, text) }) {
			continue
		}
		if strings.Contains(line, `err="context canceled"`) {
			continue // client-go logs an error when a stop interrupts the reading of an answer
		}
		for _, bad := range never {
			if strings.Contains(strings.ToLower(line), strings.ToLower(bad)) {
				w.t.Errorf("the controller wrote: %s", line)
			}
		}
	}
}

// eventually polls until done returns true, ten times a second: if eight tests at once poll more often, they keep a
// processor busy. An error of done is final. So is the end of the last running controller, unless the test ended it.
func (w *world) eventually(what string, done func() (bool, error)) {
	w.t.Helper()
	w.polls(100*time.Millisecond, what, done)
}

// logSays is eventually for a condition that runs the program on the log, which costs 50 ms of a processor.
func (w *world) logSays(what string, done func() (bool, error)) {
	w.t.Helper()
	w.polls(500*time.Millisecond, what, done)
}

func (w *world) polls(every time.Duration, what string, done func() (bool, error)) {
	w.t.Helper()
	ctx, cancel := patience.Context(w.t.Context())
	defer cancel()
	err := patience.Until(ctx, every, nil, func() (bool, error) {
		ended := w.allEnded() // read first: the last action of a controller may fulfil the condition
		ok, err := done()
		if !ok && err == nil {
			err = ended
		}
		return ok, err
	})
	if err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// allEnded returns how the controllers ended, if none runs any more and one has ended by itself.
func (w *world) allEnded() (err error) {
	for _, c := range w.controllers {
		if c.Running() {
			return nil
		}
		err = errors.Join(err, c.Died())
	}
	return err
}

// holds checks for a while that a condition stays true.
func (w *world) holds(what string, period time.Duration, still func() error) {
	w.t.Helper()
	end := time.NewTimer(period)
	defer end.Stop()
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := still(); err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
		select {
		case <-w.t.Context().Done():
			w.t.Fatalf("%s: the test ended", what)
		case <-end.C:
			return
		case <-tick.C:
		}
	}
}

// pods returns the pods of a Job; with an empty name, all of the namespace. The Job may be gone.
func (w *world) pods(job string) []corev1.Pod {
	w.t.Helper()
	opts := metav1.ListOptions{}
	if job != "" {
		opts.LabelSelector = "batch.kubernetes.io/job-name=" + job
	}
	list, err := w.client.CoreV1().Pods(w.namespace).List(w.t.Context(), opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// written counts the writes of this world's controller as "verb resource", without Events, Leases and
// SelfSubjectAccessReviews; keep may be nil.
func (w *world) written(keep func(controlplane.Write) bool) map[string]int {
	w.t.Helper()
	counts, err := w.cp.CountWrites(func(x controlplane.Write) bool {
		return x.User == w.namespace && !slices.Contains([]string{"events", "leases", "selfsubjectaccessreviews"}, x.Resource) && (keep == nil || keep(x))
	})
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]int{}
	for kind, n := range counts {
		out[kind.Verb+" "+kind.Resource] = n
	}
	return out
}
