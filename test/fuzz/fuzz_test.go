package fuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/faults"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
)

// lanes is how many Jobs live at a time.
const lanes = 48

// waits make the controller's waits short, so that a run sees many of them. The first four are what the contract lets a
// test scale (J-267); the last is how long a call may still take effect that the proxy has lost: it is never late.
var waits = []string{
	"--pod-failure-backoff=200ms", "--max-pod-failure-backoff=1s", "--api-backoff=100ms", "--max-api-backoff=2s",
	"--status-delay=50ms", "--server-request-timeout=3s",
}

// A 429 makes the controller send nothing at all for a second, so there are few.
var rates = faults.Rates{
	faults.LostBefore: 0.01, faults.LostAfter: 0.02, faults.TimedOut: 0.01, faults.LateTimeout: 0.02,
	faults.TooMany: 0.001, faults.Failed: 0.02, faults.Touched: 0.08, faults.Cut: 1,
}

// fuzz is what the lanes share.
type fuzz struct {
	client    kubernetes.Interface
	namespace string
	kubelet   *kubelet.Kubelet
	history   *history.History
	stripped  sync.Map // UIDs of pods whose finalizer a user removed, or was about to
	deleted   sync.Map // and of those that a user deleted
}

// effort is when a run has seen enough: so many status writes, 20,000 at length; or so much time on a machine that has
// much else to do, if there were at least some.
func effort() (writes, least int, most time.Duration) {
	if os.Getenv("JOBLEDGER_LONG") != "" {
		return 20_000, 20_000, time.Hour
	}
	return 200, 150, 60 * time.Second
}

// seed is that of JOBLEDGER_SEED, else of the time.
func seed(t *testing.T) uint64 {
	if text := os.Getenv("JOBLEDGER_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return uint64(time.Now().UnixNano())
}

// J-206 to J-238, O-060: the API server refuses none of our status writes as invalid, whatever users and kubelets do.
// J-044, J-085, J-089: at no stored version is a condition lost, or a pod counted twice or before its time.
// J-102: no pod keeps a finalizer.
// J-168: each Job ends in a way that what happened to its pods bears out.
// Design §2, invariant 1: each write of ours has a command in the log that asked for it.
//
// TestNoStatusIsRefusedAsInvalid lets random Jobs live.
func TestNoStatusIsRefusedAsInvalid(t *testing.T) {
	seed := seed(t)
	t.Logf("seed %d", seed)
	namespace, err := shared.CreateNamespace(t.Context(), "fuzz")
	if err != nil {
		t.Fatal(err)
	}
	c, proxy := newController(t, namespace, seed)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	f := newFuzz(t, ctx, namespace)
	if err := c.Start(ctx); err != nil {
		t.Fatal(err)
	}
	lives := &lives{Controller: c, fail: cancel}
	lives.watch(ctx)
	defer lives.unwatch()

	var group sync.WaitGroup
	var jobs atomic.Int64
	var enough atomic.Bool
	for n := range uint64(lanes) {
		l := &lane{fuzz: f, rand: rand.New(rand.NewPCG(seed, n))}
		group.Go(func() {
			for !enough.Load() && ctx.Err() == nil {
				if err := l.life(ctx, fmt.Sprintf("job-%d", jobs.Add(1))); err != nil {
					cancel(err) // the first is told
				}
			}
		})
	}
	count := countWrites(ctx, namespace, &enough, lives.killed)
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		t.Error(err)
	}
	proxy.Calm()
	stopCtx, done := patience.Several(context.Background(), 2) // replaying a long log takes minutes
	defer done()
	if err := errors.Join(c.Stop(stopCtx), count.read(), c.Check(stopCtx)); err != nil {
		t.Error(err)
	}
	count.judge(t, stopCtx, proxy.Calls, c.Log())
	if refused, err := shared.Forbidden(namespace); err != nil || len(refused) > 0 {
		t.Errorf("the controller asked for what no role lets it do: %v %v", refused, err)
	}
	for _, r := range count.refused {
		t.Errorf("refused as invalid: %+v", r)
	}
	t.Logf("%d Jobs, %d status writes; answers %v; faults %v", jobs.Load(), count.writes, count.codes, proxy.Counts())
	if t.Failed() {
		t.Logf("The log and the output of the controller are in %s", filepath.Dir(c.Log()))
	}
}

// newController makes a controller that reaches the API server through a proxy.
func newController(t *testing.T, namespace string, seed uint64) (*controller.Controller, *faults.Proxy) {
	t.Helper()
	dir, err := os.MkdirTemp("", "jobledger-"+namespace+"-") //nolint:usetesting // kept after a failure
	if err != nil {
		t.Fatal(err)
	}
	if _, err := controller.NewUser(t.Context(), shared.ControlPlane, namespace, namespace, dir); err != nil {
		t.Fatal(err)
	}
	user, err := shared.UserConfig(namespace)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := faults.Start(faults.Config{Upstream: user, Rates: rates, Seed: seed, Touch: touch, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "proxy.kubeconfig")
	if err := controlplane.WriteKubeconfig(proxy.Client(), kubeconfig); err != nil {
		t.Fatal(err)
	}
	c := controller.New(controller.Config{
		Program: shared.Program, Kubeconfig: kubeconfig, Namespace: namespace, Dir: dir,
		// What is tested are Jobs. A Lease whose renewals go wrong for long enough is lost, which ends the process.
		Args: append(slices.Clone(waits), "--leader-elect=false"),
	})
	t.Cleanup(func() {
		if err := errors.Join(c.Kill(), proxy.Stop()); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return c, proxy
}

// touch acts as another client that annotates an object, given by its path, so that it has another resourceVersion.
func touch(ctx context.Context, path string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/touched":%q}}}`, time.Now().Format(time.RFC3339Nano))
	return shared.Admin.BatchV1().RESTClient().Patch(types.MergePatchType).AbsPath(path).Body(patch).Do(ctx).Error()
}

func newFuzz(t *testing.T, ctx context.Context, namespace string) *fuzz {
	t.Helper()
	k, err := kubelet.New(ctx, shared.Admin)
	if err != nil {
		t.Fatal(err)
	}
	h, err := history.Watch(ctx, shared.Admin, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return &fuzz{client: shared.Admin, namespace: namespace, kubelet: k.Exact(), history: h}
}

// counted is what the audit log says of the controller's writes.
type counted struct {
	user    string
	offset  int64
	all     []controlplane.Write
	writes  int         // of statuses, that were stored
	codes   map[int]int // of all answers to status writes
	refused []controlplane.Write
}

// countWrites follows the audit log until enough statuses were written, or the run has failed. It calls halfway once,
// when half of those that there will be at least are there.
func countWrites(ctx context.Context, user string, enough *atomic.Bool, halfway func(context.Context)) *counted {
	c := &counted{user: user, codes: map[int]int{}}
	defer enough.Store(true)
	writes, least, most := effort()
	tick, began := time.NewTicker(time.Second), time.Now()
	defer tick.Stop()
	for len(c.refused) == 0 && c.writes < writes && (c.writes < least || time.Since(began) < most) {
		select {
		case <-ctx.Done():
			return c
		case <-tick.C:
		}
		if c.read() != nil {
			return c // the last read says it again
		}
		if halfway != nil && c.writes >= least/2 {
			halfway(ctx)
			halfway = nil
		}
	}
	return c
}

func (c *counted) read() error {
	writes, next, err := shared.WritesSince(c.offset)
	if err != nil {
		return err
	}
	c.offset = next
	for _, w := range writes {
		if w.User != c.user {
			continue
		}
		c.all = append(c.all, w)
		if !strings.HasPrefix(w.Resource, "jobs/") {
			continue
		}
		c.codes[w.Code]++
		switch w.Code {
		case 200:
			c.writes++
		case 422:
			c.refused = append(c.refused, w)
		}
	}
	return nil
}
