package integration

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
)

// The annotations of the Lease.
const (
	leaseScope = "jobledger.dev/namespace"
	leaseLock  = "jobledger.dev/log-lock"
	leaseHead  = "jobledger.dev/log-head"
	leaseHash  = "jobledger.dev/log-head-hash"
)

// tookOver is the message of a controller that did not wait for the Lease to expire.
const tookOver = "the holder of the Lease has ended"

func (w *world) lease(namespace string) *coordinationv1.Lease {
	w.t.Helper()
	l, err := w.client.CoordinationV1().Leases(namespace).Get(w.t.Context(), controller.LeaseName, metav1.GetOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return l
}

// TestAHolderThatWasKilledIsFollowedAtOnce: the next controller does not wait if it has the LOCK of the log that the
// Lease names. A copy of the log, or a log that the Lease names from an earlier boot, waits until the Lease has
// expired. No flag is needed.
func TestAHolderThatWasKilledIsFollowedAtOnce(t *testing.T) {
	t.Parallel()
	copied := func(w *world, c *controller.Controller) *controller.Controller {
		log := c.Log() + ".copy"
		if err := os.CopyFS(log, os.DirFS(c.Log())); err != nil {
			w.t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(log, "KEY"), 0o600); err != nil { // os.CopyFS lets others read its files
			w.t.Fatal(err)
		}
		dir := filepath.Join(w.dir, "copy")
		if err := os.Mkdir(dir, 0o700); err != nil {
			w.t.Fatal(err)
		}
		next := controller.New(controller.Config{
			Program: shared.Program, Kubeconfig: w.kubeconfig, Namespace: w.namespace, Dir: dir, Log: log, Args: w.electing(),
		})
		w.controllers = append(w.controllers, next)
		return next
	}
	rebooted := func(w *world, c *controller.Controller) *controller.Controller {
		l := w.lease(w.namespace)
		boot, file, ok := strings.Cut(l.Annotations[leaseLock], "/")
		if !ok {
			w.t.Fatalf("the Lease names the LOCK %q", l.Annotations[leaseLock])
		}
		l.Annotations[leaseLock] = strings.Repeat("0", len(boot)) + "/" + file
		if _, err := w.client.CoordinationV1().Leases(w.namespace).Update(w.t.Context(), l, metav1.UpdateOptions{}); err != nil {
			w.t.Fatal(err)
		}
		return c
	}
	for _, row := range []struct {
		name string
		next func(*world, *controller.Controller) *controller.Controller
		at   bool // at once
	}{
		{"on its log", func(_ *world, c *controller.Controller) *controller.Controller { return c }, true},
		{"on a copy of its log", copied, false},
		{"on its log, after a reboot", rebooted, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c := w.newController("", w.electing()...)
			w.start(c)
			w.create(newJob("before"))
			w.finishes("before")
			w.kill(c)
			l := w.lease(w.namespace)
			expires := l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
			next := row.next(w, c)
			w.create(newJob("after"))
			w.start(next)
			output, err := next.Output()
			if err != nil {
				t.Fatal(err)
			}
			acquired := w.lease(w.namespace).Spec.AcquireTime
			said := strings.Contains(output, tookOver)
			t.Logf("the Lease expired at %s, and was acquired at %s", expires, acquired)
			if said != row.at || !row.at && acquired.Time.Before(expires) {
				t.Errorf("it says that it took over: %t, want %t; the Lease expired at %s, and was acquired at %s", said, row.at, expires, acquired)
			}
			w.finishes("after")
			if scope := w.lease(w.namespace).Annotations[leaseScope]; scope != w.namespace {
				t.Errorf("the Lease is for %q, want %q", scope, w.namespace)
			}
		})
	}
}

// TestTheLeaseNamesTheHead: the Lease has the newest durable record and the chain value after it, as verify prints it.
func TestTheLeaseNamesTheHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.run("")
	w.create(newJob("demo"))
	w.finishes("demo")
	w.stop(c)
	verified, err := c.CLI(t.Context(), "verify")
	if err != nil {
		t.Fatal(err)
	}
	l := w.lease(w.namespace)
	if want := "head " + l.Annotations[leaseHead] + " " + l.Annotations[leaseHash]; !strings.Contains(verified, want) {
		t.Errorf("the Lease names %q; verify says\n%s", want, verified)
	}
	if h := l.Spec.HolderIdentity; h != nil && *h != "" {
		t.Errorf("after a stop in good order %s holds it", *h)
	}
}

// fails starts a controller and waits until it has exited with code 1 and written these texts.
func (w *world) fails(c *controller.Controller, says ...string) {
	w.t.Helper()
	if err := c.Launch(); err != nil {
		w.t.Fatal(err)
	}
	w.endsItself(c, says...)
}

// endsItself waits until a controller has exited by itself with code 1 and written these texts.
func (w *world) endsItself(c *controller.Controller, says ...string) {
	w.t.Helper()
	select {
	case <-c.Ended():
	case <-time.After(patience.Time()):
		w.t.Fatal("it runs")
	}
	if err := c.Failed(); err == nil || err.Error() != "exit status 1" {
		w.t.Errorf("it ended with %v, want exit status 1", err)
	}
	text, err := c.Output()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, want := range says {
		if !strings.Contains(text, want) {
			w.t.Errorf("it did not say %q, but\n%s", want, text)
		}
	}
}

// TestTheLeaseOfAllNamespaces: the Lease is in the namespace jobledger, which the controller creates if it may. A
// controller for all namespaces and one for a single namespace find each other, in any order of starts. The one for the
// single namespace exits with a message that names the other. A Lease that a tenant writes in its own namespace stops
// no controller.
func TestTheLeaseOfAllNamespaces(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	cp := controlplane.ForTest(t, controlplane.Options{})
	w := newWorldOn(t, cp)
	w.rough = true // rights are missing here on purpose
	role, err := controller.CreateClusterRole(t.Context(), cp)
	if err != nil {
		t.Fatal(err)
	}
	if err := cp.Bind(t.Context(), w.namespace, role); err != nil { // so that it may read
		t.Fatal(err)
	}
	for user, role := range map[string]string{"poor": role, "rich": "cluster-admin"} {
		if err := cp.Bind(t.Context(), user, role); err != nil {
			t.Fatal(err)
		}
	}
	everywhere := func(user string, args ...string) *controller.Controller {
		config, err := cp.UserConfig(user)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(w.dir, user)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		kubeconfig := filepath.Join(dir, "kubeconfig")
		if err := controlplane.WriteKubeconfig(config, kubeconfig); err != nil {
			t.Fatal(err)
		}
		c := controller.New(controller.Config{Program: shared.Program, Kubeconfig: kubeconfig, Dir: dir, Args: args})
		w.controllers = append(w.controllers, c)
		return c
	}
	poor := everywhere("poor")
	w.fails(poor, "the Lease cannot be held: jobledger/jobledger", "--leader-elect-resource-namespace", "--leader-elect=false")

	rich := everywhere("rich", w.electing()[1:]...)
	w.start(rich)
	w.create(newJob("one"))
	w.finishes("one")
	if _, err := w.client.CoreV1().Namespaces().Get(t.Context(), "jobledger", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	l := w.lease("jobledger")
	if l.Annotations[leaseScope] != "*" || l.Spec.HolderIdentity == nil {
		t.Fatalf("the Lease is %+v", l)
	}

	single := w.newController("", w.electing()...)
	w.fails(single, "the Lease jobledger/jobledger is held by "+*l.Spec.HolderIdentity, "it runs Jobs in all namespaces",
		"in namespace "+w.namespace)
	if _, err := w.client.CoordinationV1().Leases(w.namespace).Get(t.Context(), controller.LeaseName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("one that is refused took the Lease of its namespace: %v", err)
	}
	w.create(newJob("two"))
	w.finishes("two")
	w.stop(rich)

	w.start(single)
	w.create(newJob("three"))
	w.finishes("three")
	w.start(rich)
	w.endsItself(single, "stopped, because another controller began to run the same Jobs: the Lease jobledger/jobledger is held by ",
		"it runs Jobs in all namespaces", "in namespace "+w.namespace)
	if h := w.lease(w.namespace).Spec.HolderIdentity; h != nil && *h != "" {
		t.Errorf("%s ended, and still holds its Lease", *h)
	}
	w.create(newJob("four"))
	w.finishes("four")
	w.stop(rich)

	// A killed controller is no obstacle, and neither is a Lease that a tenant holds and renews.
	w.start(single)
	w.kill(single)
	tenant := w.forge("tenant", "tenant")
	w.forge("greedy", "*")
	w.start(rich)
	w.create(newJob("five"))
	w.finishes("five")
	text, err := rich.NewestOutput()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text, "another Lease is held and renewed for Jobs that are also ours"); n != 1 || !strings.Contains(text, "lease="+tenant+"/jobledger holder=mallory") {
		t.Errorf("it warns %d times of the Lease of %s:\n%s", n, tenant, text)
	}
	if says := readyz(t, rich); !strings.Contains(says, tenant+`/jobledger by "mallory"`) {
		t.Errorf("readyz says\n%s", says)
	}
}

// forge creates a namespace with a tenant who holds a Lease of our name there, for Jobs of that scope, and renews it
// until the test ends.
func (w *world) forge(namespace, scope string) string {
	w.t.Helper()
	if _, err := w.client.CoreV1().Namespaces().Create(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		w.t.Fatal(err)
	}
	leases := w.client.CoordinationV1().Leases(namespace)
	object, err := leases.Create(w.t.Context(), &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: controller.LeaseName, Annotations: map[string]string{leaseScope: scope, "jobledger.dev/log-id": "forged"}},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("mallory"), LeaseDurationSeconds: new(int32(20)), RenewTime: &metav1.MicroTime{Time: time.Now()},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(w.t.Context())
	go func() { // ends with the test
		defer close(ended)
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(500 * time.Millisecond):
			}
			object.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
			renewed, err := leases.Update(ctx, object, metav1.UpdateOptions{})
			if err != nil && ctx.Err() == nil {
				w.t.Errorf("renew the Lease of %s: %v", namespace, err)
				return
			}
			object = renewed
		}
	}()
	w.t.Cleanup(func() { cancel(); <-ended })
	return namespace
}

// TestARestartAfterAKillIsAsFastWithALease measures the time from the start of the process to its first write, with a
// Lease and without one. The figures are for people. The test fails only if a start waits for the Lease of the killed
// process.
func TestARestartAfterAKillIsAsFastWithALease(t *testing.T) {
	effort.Whole(t)
	const rounds = 5
	w := newWorld(t)
	controllers := map[string]*controller.Controller{}
	took := map[string][]time.Duration{}
	worlds := map[string]*world{"with": w, "without": newWorld(t)}
	controllers["with"] = worlds["with"].run("")
	controllers["without"] = worlds["without"].run("", "--leader-elect=false")
	for round := range rounds {
		for _, side := range []string{"with", "without"} {
			w, c := worlds[side], controllers[side]
			w.kill(c)
			name := "round-" + string(rune('a'+round))
			w.create(newJob(name))
			began := time.Now()
			if err := c.Launch(); err != nil {
				t.Fatal(err)
			}
			var first time.Time
			w.eventually("a pod is made", func() (bool, error) {
				writes, err := w.cp.Writes()
				i := slices.IndexFunc(writes, func(x controlplane.Write) bool {
					return x.User == w.namespace && x.Verb == "create" && x.Resource == "pods" && strings.HasPrefix(x.Name, name) && x.Code < 300
				})
				if i >= 0 {
					first = writes[i].At
				}
				return i >= 0, err
			})
			took[side] = append(took[side], first.Sub(began))
			ctx, cancel := patience.Context(t.Context())
			if err := c.Ready(ctx); err != nil {
				t.Error(err)
			}
			cancel()
			w.finishes(name)
		}
	}
	middle := func(side string) time.Duration { slices.Sort(took[side]); return took[side][rounds/2] }
	with, without := middle("with"), middle("without")
	t.Logf("from the start to the first write: %s with a Lease, %s without: ratio %.2f; all: %v", with, without, float64(with)/float64(without), took)
	output, err := controllers["with"].Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(output, tookOver); n != rounds {
		t.Errorf("of %d starts with a Lease %d took over at once:\n%s", rounds, n, output)
	}
}
