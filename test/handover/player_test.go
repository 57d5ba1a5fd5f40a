package handover

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/kubelet"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// player is the kubelet and the users of a namespace. It plays the scripts of the Jobs, turn after turn. It does not
// know the controllers: it reads what is stored, so it goes on while no controller runs.
type player struct {
	namespace string
	turns     int
	history   *history.History
	kubelet   *kubelet.Kubelet

	mu    sync.Mutex
	turn  int
	wake  context.CancelFunc // ends the wait for a change
	moved chan struct{}      // closed and replaced when a step was done
	jobs  []*played
	sent  map[deedKey]bool
	err   error
}

// played is a Job of the play.
type played struct {
	name string
	nth  int
	role *role
	done int // number of finished steps
}

// deedKey is a request that was sent. It is not sent again before the watch shows its effect.
type deedKey struct {
	pod  types.UID
	what string
}

// newPlayer begins a play with so many Jobs in a new namespace, until the end of the test. With turns 1, all steps are
// played at once.
func newPlayer(t *testing.T, ctx context.Context, jobs, turns int) *player {
	t.Helper()
	namespace, err := shared.CreateNamespace(ctx, "play")
	if err != nil {
		t.Fatal(err)
	}
	x := &player{namespace: namespace, turns: turns, turn: -1, moved: make(chan struct{}), sent: map[deedKey]bool{}, wake: func() {}}
	for i := range jobs {
		r := &cast[i%len(cast)]
		x.jobs = append(x.jobs, &played{name: fmt.Sprintf("%s-%d", r.name, i/len(cast)), nth: i, role: r})
	}
	if x.kubelet, err = kubelet.New(ctx, shared.Admin); err != nil {
		t.Fatal(err)
	}
	playing, end := context.WithCancel(ctx)
	if x.history, err = history.Watch(playing, shared.Admin, namespace); err != nil {
		end()
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() { x.play(playing) })
	t.Cleanup(func() {
		end()
		ended.Wait()
		x.history.Wait()
	})
	return x
}

// advance begins the next turn: it creates the Jobs that belong to it.
func (x *player) advance(ctx context.Context) error {
	x.mu.Lock()
	turn := x.turn + 1
	x.mu.Unlock()
	var group errgroup.Group
	group.SetLimit(8)
	for _, j := range x.jobs {
		if min(bornIn(j.nth), x.turns-1) != turn {
			continue
		}
		p := part{job: func(job *batchv1.Job) { j.role.job(job); kubelet.Place(&job.Spec.Template) }}
		group.Go(func() error {
			_, err := shared.Admin.BatchV1().Jobs(x.namespace).Create(ctx, p.make(j.name, j.nth), metav1.CreateOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.turn = turn
	x.wake()
	return nil
}

// play carries out the due actions, looks again after each change, and ends with ctx.
func (x *player) play(ctx context.Context) {
	for ctx.Err() == nil {
		x.mu.Lock()
		waiting, wake := context.WithCancel(ctx)
		x.wake = wake
		x.mu.Unlock()
		var due []func(context.Context) error
		err := x.history.Await(waiting, func(n history.Now) string {
			if due = x.due(n); len(due) == 0 {
				return "nothing is due"
			}
			return ""
		})
		if err != nil && waiting.Err() == nil {
			x.fail(err)
			wake()
			return
		}
		wake()
		var group errgroup.Group
		group.SetLimit(16)
		for _, do := range due {
			group.Go(func() error { // ends with the answer to a request
				if err := do(ctx); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
					x.fail(err)
				}
				return nil
			})
		}
		_ = group.Wait() // none returns an error
	}
}

func (x *player) fail(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.err = errors.Join(x.err, err)
	x.announceLocked()
}

func (x *player) announceLocked() {
	close(x.moved)
	x.moved = make(chan struct{})
}

// due returns the present actions of the kubelet and the users.
func (x *player) due(n history.Now) (all []func(context.Context) error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	byJob := map[types.UID][]*corev1.Pod{}
	for _, pod := range n.Pods {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil && ledger.Live(pod) && !x.sent[deedKey{pod.UID, "end"}] {
			byJob[owner.UID] = append(byJob[owner.UID], pod)
		}
		if do := x.tendLocked(pod); do != nil {
			all = append(all, do)
		}
	}
	for _, j := range x.jobs {
		if job := n.Jobs[j.name]; job != nil {
			all = append(all, x.stepLocked(j, job, byJob[job.UID])...)
		}
	}
	return all
}

// tendLocked returns the kubelet's own action on a pod: it starts new pods and ends deleted ones.
func (x *player) tendLocked(pod *corev1.Pod) func(context.Context) error {
	once := func(what string, do func(context.Context) error) func(context.Context) error {
		if key := (deedKey{pod.UID, what}); !x.sent[key] {
			x.sent[key] = true
			return do
		}
		return nil
	}
	ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	switch {
	case pod.DeletionTimestamp == nil && !ended && pod.Status.Phase != corev1.PodRunning:
		return once("run", func(ctx context.Context) error { return x.kubelet.Run(ctx, pod, true) })
	case pod.DeletionTimestamp != nil && !ended:
		return once("stop", func(ctx context.Context) error { return x.kubelet.Fail(ctx, pod, 137) })
	case pod.DeletionTimestamp != nil && (pod.DeletionGracePeriodSeconds == nil || *pod.DeletionGracePeriodSeconds > 0):
		return once("remove", func(ctx context.Context) error { return x.kubelet.Remove(ctx, pod) })
	}
	return nil
}

// stepLocked returns the actions of the next step of a Job, if its turn has begun and the Job has got as far.
func (x *player) stepLocked(j *played, job *batchv1.Job, live []*corev1.Pod) (all []func(context.Context) error) {
	if j.done == len(j.role.script) || j.role.turnOf(j.done, j.nth, x.turns) > x.turn {
		return nil
	}
	s := j.role.script[j.done]
	running := !slices.ContainsFunc(live, func(pod *corev1.Pod) bool { return pod.Status.Phase != corev1.PodRunning })
	if len(live) != s.live || !running || s.rest && !ledger.True(job, batchv1.JobSuspended) {
		return nil
	}
	slices.SortFunc(live, byIndex)
	for _, d := range s.do(live) {
		if d.pod != nil {
			x.sent[deedKey{d.pod.UID, "end"}] = true
		}
		all = append(all, func(ctx context.Context) error { return d.do(ctx, x, j.name, d.pod) })
	}
	j.done++
	x.announceLocked()
	return all
}

// await returns when that share of the steps of this turn is done.
func (x *player) await(ctx context.Context, share float64) error {
	for {
		x.mu.Lock()
		var done, all int
		var left []string
		for _, j := range x.jobs {
			for k := range j.role.script {
				if j.role.turnOf(k, j.nth, x.turns) <= x.turn && bornIn(j.nth) <= x.turn {
					all++
				}
			}
			done += j.done
			if j.done < len(j.role.script) {
				left = append(left, fmt.Sprintf("%s at step %d", j.name, j.done))
			}
		}
		moved, err := x.moved, x.err
		x.mu.Unlock()
		if err != nil || float64(done) >= share*float64(all) {
			return err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d steps are done, %s: %w", done, all, strings.Join(left, ", "), context.Cause(ctx))
		}
	}
}

// unfinished returns how many existing Jobs have not ended.
func (x *player) unfinished() (n int) {
	for _, job := range x.history.Now().Jobs {
		if !ledger.Finished(job) {
			n++
		}
	}
	return n
}

// settled waits until all Jobs have ended, and no pod has a finalizer or runs.
func (x *player) settled(ctx context.Context) error {
	if err := x.await(ctx, 1); err != nil {
		return err
	}
	return x.history.Await(ctx, func(n history.Now) string {
		var left []string
		for _, j := range x.jobs {
			if job := n.Jobs[j.name]; job == nil || !ledger.Finished(job) {
				left = append(left, "job "+j.name+" has not ended")
			}
		}
		for _, pod := range n.Pods {
			if ledger.Tracked(pod) || pod.DeletionTimestamp != nil {
				left = append(left, "pod "+pod.Name+" is not done with")
			}
		}
		return strings.Join(left, "; ")
	})
}
