package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/controller"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// TestRecreatedUnderItsName: Jobs are created, deleted in each of the three ways and created again under the same name,
// from one template, with up to two seconds in between; some come back with another managedBy. Each Job that stays long
// enough gets its pod, even if its predecessor was in backoff. None inherits anything (J-107, J-182, J-102, J-005).
func TestRecreatedUnderItsName(t *testing.T) {
	effort.Whole(t)
	t.Parallel()
	names, loops := 20, 4
	if long {
		names, loops = 50, 40
	}
	seed := uint64(time.Now().UnixNano())
	w := newWorld(t)
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	h, err := history.Watch(ctx, w.client, w.namespace)
	if err != nil {
		t.Fatal(err)
	}
	c := w.run("all")
	all := &recreated{world: w, ctx: ctx, history: h}
	var group sync.WaitGroup
	for n := range names {
		group.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			if err := all.again(r, fmt.Sprintf("name-%d", n), n%2 == 1, loops); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	w.eventually("no pod keeps a finalizer", func() (bool, error) { return !slices.ContainsFunc(w.pods(""), tracked), nil })
	if err := h.CatchUp(ctx); err != nil {
		t.Fatal(err)
	}
	book := ledger.Read(ledger.Config{}, h.Changes())
	if found := book.Violations(); len(found) > 0 {
		t.Error(ledger.Explain(found, h))
	}
	made := 0
	for _, a := range book.Accounts() {
		if made += a.Pods(); a.Pods() > 0 && !ours(a.Job) {
			t.Errorf("somebody else's Job %s got %d pods (J-005)", a.Job.Name, a.Pods())
		}
	}
	slices.Sort(all.waits)
	p99 := all.waits[len(all.waits)*99/100]
	t.Logf("%d Jobs under %d names, %d pods; of %d that stayed the pod was there after %s (median), %s (p99), %s (at most)",
		len(book.Accounts()), names, made, len(all.waits), all.waits[len(all.waits)/2], p99, all.waits[len(all.waits)-1])
	w.noneWaitedFirst(c)
}

// noneWaitedFirst: no Job had a wait, such as an inherited backoff, before its first pod was requested.
func (w *world) noneWaitedFirst(c *controller.Controller) {
	w.t.Helper()
	records, err := c.Records(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	young, made := map[string]bool{}, 0
	for _, r := range records {
		switch r.Kind {
		case "JobAdded":
			young[r.Stream] = true
		case "TimerFired":
			if young[r.Stream] {
				w.t.Errorf("record %d: %s served a wait before its first pod was asked for", r.Sequence, r.Stream)
			}
		case "Decided":
			commands, err := r.Commands()
			if err != nil {
				w.t.Fatal(err)
			}
			if slices.ContainsFunc(commands, func(c controller.Command) bool { return c.Type == "CreatePod" }) && young[r.Stream] {
				made++
				delete(young, r.Stream)
			}
		}
	}
	if made == 0 {
		w.t.Error("the log has no Job and its first pod")
	}
}

// recreated are the Jobs of the test, and how long the remaining ones waited for their pods.
type recreated struct {
	*world
	ctx     context.Context
	history *history.History

	mu    sync.Mutex
	waits []time.Duration
}

func ours(j *batchv1.Job) bool { return j.Spec.ManagedBy == nil || *j.Spec.ManagedBy != foreign }

// again creates and deletes the Jobs of a name. The last one stays.
func (x *recreated) again(r *rand.Rand, name string, failing bool, loops int) error {
	options := []option{runFor("200ms")}
	if failing { // it will soon be in backoff
		options = append(options, outcome(controlplane.OutcomeFail))
	}
	owners := []*string{new(events.ManagedBy), nil, new(events.BuiltinManagedBy), new(foreign)}
	for i := range loops {
		last := i == loops-1
		owner := owners[r.IntN(len(owners))]
		if last {
			owner = owners[r.IntN(len(owners)-1)]
		}
		job, err := x.createAgain(newJob(name, append(options, managedBy(owner))...))
		if err != nil {
			return err
		}
		if ours(job) && (last || r.IntN(2) == 0) {
			if err := x.getsItsPod(job); err != nil {
				return err
			}
		} else if err := x.pause(time.Duration(r.Int64N(int64(2 * time.Second)))); err != nil {
			return err
		}
		if last {
			return nil
		}
		how := []metav1.DeletionPropagation{
			metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
		}[r.IntN(3)]
		err = x.client.BatchV1().Jobs(x.namespace).Delete(x.ctx, name, metav1.DeleteOptions{PropagationPolicy: &how})
		if err != nil {
			return fmt.Errorf("delete %s: %w", name, err)
		}
		if r.IntN(2) == 0 {
			if err := x.pause(time.Duration(r.Int64N(int64(time.Second)))); err != nil {
				return err
			}
		}
	}
	return nil
}

// createAgain creates the Job as soon as the one before it has gone.
func (x *recreated) createAgain(j *batchv1.Job) (*batchv1.Job, error) {
	for {
		created, err := x.client.BatchV1().Jobs(x.namespace).Create(x.ctx, j, metav1.CreateOptions{})
		if !apierrors.IsAlreadyExists(err) {
			return created, err
		}
		if err := x.pause(20 * time.Millisecond); err != nil {
			return nil, fmt.Errorf("job %s does not go: %w", j.Name, err)
		}
	}
}

func (x *recreated) getsItsPod(j *batchv1.Job) error {
	began := time.Now()
	ctx, cancel := patience.Context(x.ctx)
	defer cancel()
	err := x.history.Await(ctx, func(n history.Now) string {
		if len(n.PodsOf(j.UID)) == 0 {
			return fmt.Sprintf("job %s (%s) is wedged: it has no pod", j.Name, j.UID)
		}
		return ""
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.waits = append(x.waits, time.Since(began))
	return err
}

func (x *recreated) pause(d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-x.ctx.Done():
		return context.Cause(x.ctx)
	}
}
