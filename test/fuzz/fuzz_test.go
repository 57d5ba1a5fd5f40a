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

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/faults"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
)

// lanes is the number of concurrent Jobs.
const lanes = 48

// waits shorten the controller's waits, so that a run has many of them. The contract lets a test scale the first four
// (J-267). The last is how long a call that the proxy has lost may still take effect; the proxy never delays a call.
var waits = []string{
	"--pod-failure-backoff=200ms", "--max-pod-failure-backoff=1s", "--api-backoff=100ms", "--max-api-backoff=2s",
	"--status-delay=50ms", "--server-request-timeout=3s",
}

// A 429 stops all requests of the controller for a second, so it is rare.
var rates = faults.Rates{
	faults.LostBefore: 0.01, faults.LostAfter: 0.02, faults.TimedOut: 0.01, faults.LateTimeout: 0.02,
	faults.TooMany: 0.001, faults.Failed: 0.02, faults.Touched: 0.08, faults.Cut: 1,
}

// fuzz is shared by the lanes.
type fuzz struct {
	client    kubernetes.Interface
	namespace string
	kubelet   *kubelet.Kubelet
	history   *history.History
	stripped  sync.Map // UIDs of pods from which a user removed the finalizer, or may be about to
	deleted   sync.Map // UIDs of pods that a user deleted, or may be about to delete
}

// length says when a run has seen enough: after so many status writes (20,000 with JOBLEDGER_LONG), or, on a busy
// machine, after so much time and at least `least` writes.
func length() (writes, least int, most time.Duration) {
	if effort.IsLong() {
		return 20_000, 20_000, time.Hour
	}
	return 200, 150, 60 * time.Second
}

// seed returns JOBLEDGER_SEED, or a seed from the time.
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

// J-206 to J-238, O-060: the API server refuses no status write of ours as invalid, whatever users and kubelets do.
// J-044, J-085, J-089: no stored version loses a condition, or counts a pod twice or too early.
// J-102: no pod keeps a finalizer.
// J-168: each Job ends in a way that its pods explain.
// Design §2, invariant 1: each write of ours has a command in the log that asked for it.
//
// TestNoStatusIsRefusedAsInvalid runs random Jobs.
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
					cancel(err) // the first error is reported
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
		// Only Jobs are tested: if the renewals of a Lease failed for long enough, the process would end.
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

// touch annotates an object, given by its path, as another client, so that its resourceVersion changes.
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

// counted has the controller's writes in the audit log.
type counted struct {
	user    string
	offset  int64
	all     []controlplane.Write
	writes  int         // of statuses, successful
	codes   map[int]int // of all answers to status writes
	refused []controlplane.Write
}

// countWrites follows the audit log until enough statuses were written, or the run has failed. It calls halfway once,
// after half of the least number of writes.
func countWrites(ctx context.Context, user string, enough *atomic.Bool, halfway func(context.Context)) *counted {
	c := &counted{user: user, codes: map[int]int{}}
	defer enough.Store(true)
	writes, least, most := length()
	tick, began := time.NewTicker(time.Second), time.Now()
	defer tick.Stop()
	for len(c.refused) == 0 && c.writes < writes && (c.writes < least || time.Since(began) < most) {
		select {
		case <-ctx.Done():
			return c
		case <-tick.C:
		}
		if c.read() != nil {
			return c // a later read returns the error again
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
