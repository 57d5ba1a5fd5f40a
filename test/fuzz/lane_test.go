package fuzz

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/history"
	"github.com/jobledger/jobledger/test/internal/ledger"
)

// lane runs one Job after the other.
type lane struct {
	*fuzz
	rand *rand.Rand

	job  *batchv1.Job // as it was created
	told []string     // its history, for people
}

// pace is the longest wait of a lane between two actions. It is short, so that actions coincide.
const pace = 300 * time.Millisecond

// life runs one Job from its creation to its end. It returns an error if something is wrong.
func (l *lane) life(ctx context.Context, name string) error {
	l.told = nil
	wanted := randomJob(l.rand, name)
	job, err := l.client.BatchV1().Jobs(l.namespace).Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create a Job: %w\n%+v", err, wanted.Spec)
	}
	l.job = job
	for range 5 + l.rand.IntN(40) {
		if err := l.rest(ctx); err != nil {
			return err
		}
		now, pods := l.look()
		if now == nil {
			continue // the watch is behind, or the Job is gone
		}
		if ledger.Finished(now) && chance(l.rand, 0.5) {
			break
		}
		if err := l.deed(ctx, now, pods); err != nil {
			return l.wrong(err)
		}
	}
	if err := l.conclude(ctx); err != nil {
		return l.wrong(err)
	}
	return l.judge(ctx)
}

func (l *lane) rest(ctx context.Context) error {
	select {
	case <-time.After(time.Duration(l.rand.Int64N(int64(pace)))):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// look returns the Job and its pods, as far as the watch has got; nil: the Job is gone.
func (l *lane) look() (*batchv1.Job, []*corev1.Pod) { return l.history.Of(l.job.UID) }

func (l *lane) note(what string) { l.told = append(l.told, time.Now().Format("04:05.000 ")+what) }

// conclude lets the Job end: it removes obstacles, and the pods succeed. It returns when nothing is in flight any more.
func (l *lane) conclude(ctx context.Context) error {
	ctx, cancel := patience.Context(ctx) // the waits of the controller add up to less than two minutes
	defer cancel()
	if err := l.history.CatchUp(ctx); err != nil {
		return err
	}
	if job, _ := l.look(); job != nil && !ledger.Finished(job) {
		if err := l.set(ctx, job, `"suspend":false`); err != nil {
			return err
		}
		if *job.Spec.Parallelism == 0 {
			if err := l.set(ctx, job, `"parallelism":2`); err != nil {
				return err
			}
		}
	}
	for {
		job, pods := l.look()
		atRest := job == nil || ledger.Finished(job) && job.DeletionTimestamp == nil
		if atRest && !slices.ContainsFunc(pods, unsettled) {
			return nil
		}
		for _, pod := range pods {
			if err := l.finish(ctx, pod); err != nil {
				return err
			}
		}
		if err := l.rest(ctx); err != nil {
			return err
		}
	}
}

// finish ends a pod. If a pod is deleted without a grace period, the server removes it itself, once no finalizer holds
// it. If that request was interrupted, the kubelet removes it.
func (l *lane) finish(ctx context.Context, pod *corev1.Pod) error {
	switch {
	case !ledger.Terminal(pod):
		return l.tell("end well, at last, "+pod.Name, l.kubelet.Succeed(ctx, pod))
	case pod.DeletionTimestamp != nil && (*pod.DeletionGracePeriodSeconds > 0 || len(pod.Finalizers) == 0):
		return l.tell("let go, at last, of "+pod.Name, l.kubelet.Remove(ctx, pod))
	}
	return nil
}

// unsettled reports whether something must still happen to a pod.
func unsettled(p *corev1.Pod) bool {
	return ledger.Tracked(p) || p.DeletionTimestamp != nil || !ledger.Terminal(p)
}

// judge checks everything that was stored of the Job.
func (l *lane) judge(ctx context.Context) error {
	if err := l.history.CatchUp(ctx); err != nil {
		return err
	}
	book := ledger.Read(ledger.Config{Stripped: l.wasStripped, Deleted: l.wasDeleted}, l.history.Changes(l.job.UID))
	for _, account := range book.Accounts() {
		if !account.Gone {
			account.Settle()
		}
	}
	var errs []error
	for _, v := range book.Violations() {
		errs = append(errs, errors.New(v.String()))
	}
	if len(errs) > 0 {
		return l.wrong(errors.Join(errs...))
	}
	_, pods := l.look()
	l.history.Forget(l.job.UID)
	return l.sweep(ctx, pods)
}

// sweep removes the remains of the Job, so that the namespace stays small.
func (l *lane) sweep(ctx context.Context, pods []*corev1.Pod) error {
	how := metav1.DeletePropagationBackground
	err := l.client.BatchV1().Jobs(l.namespace).Delete(ctx, l.job.Name, metav1.DeleteOptions{PropagationPolicy: &how})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("sweep: %w", err)
	}
	for _, pod := range pods { // the kubelet's part
		if err := l.kubelet.Remove(ctx, pod); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	return nil
}

func (l *lane) wasStripped(pod types.UID) bool {
	_, ok := l.stripped.Load(pod)
	return ok
}

func (l *lane) wasDeleted(pod types.UID) bool {
	_, ok := l.deleted.Load(pod)
	return ok
}

// wrong returns everything about the Job, with the error before and after it: people see only the end of a long output.
func (l *lane) wrong(err error) error {
	var text strings.Builder
	fmt.Fprintf(&text, "job %s: %v\n", l.job.Name, err)
	fmt.Fprintf(&text, "as created: %s\n", describe(l.job))
	fmt.Fprintf(&text, "what happened to it:\n  %s\n", strings.Join(l.told, "\n  "))
	fmt.Fprintf(&text, "what was stored:\n%s", history.Tell(l.history.Changes(l.job.UID)))
	fmt.Fprintf(&text, "what is wrong about job %s:\n%v", l.job.Name, err)
	return errors.New(text.String())
}

func describe(j *batchv1.Job) string {
	spec := j.Spec.DeepCopy()
	spec.Template = corev1.PodTemplateSpec{}
	text, err := json.Marshal(spec)
	if err != nil {
		return err.Error()
	}
	return string(text) + ", restartPolicy " + string(j.Spec.Template.Spec.RestartPolicy)
}
