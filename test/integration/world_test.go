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
	namespace  string // also the name of the user as which the controllers run
	kubeconfig string
	users      []string // others as which controllers of this test run
	dir        string
	web        *http.Client // asks the controllers; nil: http.DefaultClient
	alone      bool         // no other test has the control plane, so an installation may watch all of it
	rough      bool         // the API server, or a right, goes away in this test, so errors may be told
	told       []string     // errors that this test brings about, so that they may be told

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

// newController makes a controller that does not run yet. Manage is the value of its --manage, empty for the default;
// args are more arguments.
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

// end is what must hold at the end of every test, of every controller that it ran.
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

// checkRights finds what the API server did not let the controllers do (J-249). A server that comes back knows no roles
// at first, so where it goes away, or rights are taken away, that says nothing.
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

// checkOutput finds what no run may have to say: that it was not allowed something, that it panicked or raced.
func (w *world) checkOutput(c *controller.Controller) {
	text, err := c.Output()
	if err != nil {
		w.t.Error(err)
	}
	never := []string{"panic:", "DATA RACE"}
	if !w.rough { // an API server that just started forbids everything until it has read its roles
		// J-249: every test runs with exactly the rights of the built-in controller's role, and is forbidden nothing.
		// J-250: beside them it needs the Lease of a process that stands alone, and no more.
		never = append(never, "level=ERROR", "forbidden")
	}
	for line := range strings.Lines(text) {
		if slices.ContainsFunc(w.told, func(text string) bool { return strings.Contains(line, text) }) {
			continue
		}
		if strings.Contains(line, `err="context canceled"`) {
			continue // client-go calls it an error when a stop ends an answer that it is reading
		}
		for _, bad := range never {
			if strings.Contains(strings.ToLower(line), strings.ToLower(bad)) {
				w.t.Errorf("the controller wrote: %s", line)
			}
		}
	}
}

// eventually polls until done reports true, ten times a second: eight tests at once that ask the API server more often
// keep a processor busy. An error of done is final, and so is the end of the last controller that runs, unless the test
// has ended it.
func (w *world) eventually(what string, done func() (bool, error)) {
	w.t.Helper()
	w.polls(100*time.Millisecond, what, done)
}

// logSays is eventually for a condition that runs the program on the log each time, which is 50 ms of a processor.
func (w *world) logSays(what string, done func() (bool, error)) {
	w.t.Helper()
	w.polls(500*time.Millisecond, what, done)
}

func (w *world) polls(every time.Duration, what string, done func() (bool, error)) {
	w.t.Helper()
	ctx, cancel := patience.Context(w.t.Context())
	defer cancel()
	err := patience.Until(ctx, every, nil, func() (bool, error) {
		ended := w.allEnded() // asked first: the last deed of a controller may be what is waited for
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

// allEnded says how the controllers ended, when none runs any more and one has ended by itself.
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

// pods are the pods of a Job, or all of the namespace without a name. The Job need not exist any more.
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

// written counts what a controller of this world wrote, Events, Leases and questions for its rights apart, as "verb
// resource"; keep may be nil.
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
