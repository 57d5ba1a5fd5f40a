package fuzz

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/ledger"
)

// deed does the next random action, mostly of the kubelet, sometimes of a user.
func (l *lane) deed(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	if chance(l.rand, 0.25) || len(pods) == 0 {
		return l.userDoes(ctx, job, pods)
	}
	return l.kubeletDoes(ctx, pods[l.rand.IntN(len(pods))])
}

// kubeletDoes plays the next step in a pod's life.
func (l *lane) kubeletDoes(ctx context.Context, pod *corev1.Pod) error {
	k := l.kubelet
	switch {
	case ledger.Terminal(pod) && pod.DeletionTimestamp != nil:
		return l.tell("let go of "+pod.Name, k.Remove(ctx, pod))
	case ledger.Terminal(pod):
		return nil
	case pod.Status.Phase == corev1.PodPending && chance(l.rand, 0.7):
		return l.tell("run "+pod.Name, k.Run(ctx, pod, chance(l.rand, 0.6)))
	case pod.DeletionTimestamp == nil && chance(l.rand, 0.3):
		if pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
			return l.tell("restart "+pod.Name, k.Restart(ctx, pod, chance(l.rand, 0.6)))
		}
		return l.tell("change readiness of "+pod.Name, k.Run(ctx, pod, chance(l.rand, 0.5)))
	case chance(l.rand, 0.55):
		return l.tell("end well "+pod.Name, k.Succeed(ctx, pod))
	}
	code := exitCodes[l.rand.IntN(len(exitCodes))]
	if chance(l.rand, 0.25) {
		return l.tell(fmt.Sprintf("disrupt %s, exit code %d", pod.Name, code), k.Fail(ctx, pod, code, corev1.DisruptionTarget))
	}
	return l.tell(fmt.Sprintf("fail %s, exit code %d", pod.Name, code), k.Fail(ctx, pod, code))
}

// userDoes edits the Job, or acts on one of its pods.
func (l *lane) userDoes(ctx context.Context, job *batchv1.Job, pods []*corev1.Pod) error {
	if len(pods) > 0 && chance(l.rand, 0.35) {
		return l.userDoesToPod(ctx, pods[l.rand.IntN(len(pods))])
	}
	if chance(l.rand, 0.04) {
		return l.deleteJob(ctx, job)
	}
	return l.edit(ctx, job)
}

func (l *lane) userDoesToPod(ctx context.Context, pod *corev1.Pod) error {
	pods := l.client.CoreV1().Pods(l.namespace)
	switch n := l.rand.IntN(12); {
	case n < 6:
		l.deleted.Store(pod.UID, true) // before it is deleted
		return l.tell("a user deletes "+pod.Name, pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}))
	case n < 8:
		l.deleted.Store(pod.UID, true)
		return l.tell("a user deletes by force "+pod.Name, pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}))
	case n < 10:
		l.stripped.Store(pod.UID, true) // before it is removed
		return l.patchPod(ctx, pod, "strips the finalizer of", `"finalizers":null`)
	case n < 11:
		return l.patchPod(ctx, pod, "takes the owner away from", `"ownerReferences":null`)
	case pod.Labels[batchv1.ControllerUidLabel] == "":
		return l.patchPod(ctx, pod, "gives its label back to", fmt.Sprintf(`"labels":{%q:%q}`, batchv1.ControllerUidLabel, l.job.UID))
	}
	return l.patchPod(ctx, pod, "takes the label away from", fmt.Sprintf(`"labels":{%q:null}`, batchv1.ControllerUidLabel))
}

// patchPod changes the metadata of a pod as a user.
func (l *lane) patchPod(ctx context.Context, pod *corev1.Pod, what, meta string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"uid":%q,%s}}`, pod.UID, meta)
	_, err := l.client.CoreV1().Pods(l.namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return l.tell("a user "+what+" "+pod.Name, err)
}

func (l *lane) deleteJob(ctx context.Context, job *batchv1.Job) error {
	policies := []metav1.DeletionPropagation{
		metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
	}
	how := policies[l.rand.IntN(len(policies))]
	err := l.client.BatchV1().Jobs(l.namespace).Delete(ctx, job.Name, metav1.DeleteOptions{
		PropagationPolicy: &how, Preconditions: &metav1.Preconditions{UID: &job.UID},
	})
	return l.tell("a user deletes the Job, "+string(how), err)
}

// edit changes the spec at random, as the API allows.
func (l *lane) edit(ctx context.Context, job *batchv1.Job) error {
	s := &job.Spec
	patch := ""
	kind := l.rand.IntN(7)
	if isIndexed(job) && job.Status.Succeeded > 0 && chance(l.rand, 0.3) {
		return l.shrink(ctx, job)
	}
	switch kind {
	case 0, 1:
		patch = fmt.Sprintf(`"parallelism":%d`, l.rand.IntN(6))
	case 2, 3:
		patch = fmt.Sprintf(`"suspend":%t`, s.Suspend == nil || !*s.Suspend)
	case 4:
		patch = fmt.Sprintf(`"backoffLimit":%d`, l.rand.IntN(6))
	case 5:
		patch = fmt.Sprintf(`"activeDeadlineSeconds":%d`, 2+l.rand.IntN(20))
	case 6:
		n := 1 + l.rand.IntN(7)
		switch {
		case s.BackoffLimitPerIndex != nil && chance(l.rand, 0.5):
			patch = fmt.Sprintf(`"maxFailedIndexes":%d`, l.rand.IntN(int(*s.Completions)+1))
		case isIndexed(job):
			patch = fmt.Sprintf(`"completions":%d,"parallelism":%d`, n, n)
		default:
			patch = fmt.Sprintf(`"parallelism":%d`, n)
		}
	}
	return l.set(ctx, job, patch)
}

// shrink lowers the completions below the succeeded ones and then, before a controller can react, changes the
// parallelism: the write after that must not lower the number of successes with the removed indexes (J-212, J-236).
func (l *lane) shrink(ctx context.Context, job *batchv1.Job) error {
	n := l.rand.IntN(int(job.Status.Succeeded) + 1)
	if err := l.set(ctx, job, fmt.Sprintf(`"completions":%d,"parallelism":%d`, n, n)); err != nil {
		return err
	}
	return l.set(ctx, job, fmt.Sprintf(`"parallelism":%d`, n+1))
}

// set changes the spec. If the API refuses it, for example because a success policy needs more completions, it notes
// this and returns no error.
func (l *lane) set(ctx context.Context, job *batchv1.Job, patch string) error {
	_, err := l.client.BatchV1().Jobs(l.namespace).Patch(
		ctx, job.Name, types.MergePatchType, []byte(`{"spec":{`+patch+`}}`), metav1.PatchOptions{})
	if apierrors.IsInvalid(err) {
		return l.tell("a user may not set "+patch+": "+err.Error(), nil)
	}
	return l.tell("a user sets "+patch, err)
}

func isIndexed(j *batchv1.Job) bool {
	return j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion
}

// tell notes an action. If the object is gone or has changed meanwhile, that is no error.
func (l *lane) tell(what string, err error) error {
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		l.note(what + ": too late")
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", what, err)
	}
	l.note(what)
	return nil
}
