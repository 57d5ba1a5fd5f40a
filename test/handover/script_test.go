package handover

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// role is a Job with an end that does not depend on timing. Its script says what its pods and its user do, and each
// step waits until the controller has done its part. So the Job has the same end under any controller and with any
// handover.
type role struct {
	name   string
	job    func(*batchv1.Job)
	script []step
}

// step is done once, when the Job has exactly `live` live pods and all of them run.
type step struct {
	live int
	rest bool // and the Job is suspended
	do   func(live []*corev1.Pod) []deedOf
}

// deedOf is one action of a step: on the pod, or on the Job if pod is nil.
type deedOf struct {
	pod *corev1.Pod
	do  func(ctx context.Context, x *player, job string, pod *corev1.Pod) error
}

const disrupted = -1 // a pod fails by a disruption

// ends is a step in which the first `many` of the live pods, by index, end with that exit code.
func ends(live, many int, code int32) step {
	return step{live: live, do: func(pods []*corev1.Pod) (all []deedOf) {
		for _, pod := range pods[:many] {
			all = append(all, deedOf{pod, exit(code)})
		}
		return all
	}}
}

// endsIndex is a step in which the pod of an index ends.
func endsIndex(live int, index string, code int32) step {
	return step{live: live, do: func(pods []*corev1.Pod) (all []deedOf) {
		for _, pod := range pods {
			if pod.Annotations[batchv1.JobCompletionIndexAnnotation] == index {
				all = append(all, deedOf{pod, exit(code)})
			}
		}
		return all
	}}
}

func exit(code int32) func(context.Context, *player, string, *corev1.Pod) error {
	return func(ctx context.Context, x *player, _ string, pod *corev1.Pod) error {
		switch code {
		case 0:
			return x.kubelet.Succeed(ctx, pod)
		case disrupted:
			return x.kubelet.Fail(ctx, pod, 137, corev1.DisruptionTarget)
		}
		return x.kubelet.Fail(ctx, pod, code)
	}
}

// edits is a step in which the user patches the spec.
func edits(live int, rest bool, patch string) step {
	return step{live: live, rest: rest, do: func([]*corev1.Pod) []deedOf {
		return []deedOf{{do: func(ctx context.Context, x *player, job string, _ *corev1.Pod) error {
			_, err := shared.Admin.BatchV1().Jobs(x.namespace).Patch(ctx, job, types.MergePatchType, []byte(`{"spec":{`+patch+`}}`), metav1.PatchOptions{})
			return err
		}}}
	}}
}

// evicts is a step in which the user deletes the first pod.
func evicts(live int) step {
	return step{live: live, do: func(pods []*corev1.Pod) []deedOf {
		return []deedOf{{pods[0], func(ctx context.Context, x *player, _ string, pod *corev1.Pod) error {
			return shared.Admin.CoreV1().Pods(x.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
		}}}
	}}
}

func onExit(action batchv1.PodFailurePolicyAction, code int32) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: action,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		},
	}}}
}

func with(base func(*batchv1.Job), more func(*batchv1.JobSpec)) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		base(j)
		more(&j.Spec)
	}
}

// cast are the kinds of Jobs.
var cast = []role{
	{
		name: "plain", job: pods(2, 4, ""),
		script: []step{ends(2, 1, 0), ends(2, 1, 0), ends(2, 1, 0), ends(1, 1, 0)},
	},
	{
		name: "queue", job: with(pods(3, 0, ""), func(s *batchv1.JobSpec) { s.Completions = nil }),
		script: []step{ends(3, 1, 0), ends(2, 1, 0), ends(1, 1, 0)},
	},
	{
		name: "queue-with-a-failure", job: with(pods(2, 0, ""), func(s *batchv1.JobSpec) { s.Completions = nil }),
		script: []step{ends(2, 1, 1), ends(2, 1, 0), ends(1, 1, 0)},
	},
	{
		name: "indexed", job: indexed(2, 5, ""),
		script: []step{ends(2, 1, 0), ends(2, 1, 0), ends(2, 1, 0), ends(2, 2, 0)},
	},
	{
		name: "one-failure", job: with(pods(1, 2, ""), func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(3)) }),
		script: []step{ends(1, 1, 0), ends(1, 1, 1), ends(1, 1, 0)},
	},
	{
		name: "too-many-failures", job: with(pods(2, 4, ""), func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(1)) }),
		script: []step{ends(2, 1, 0), ends(2, 1, 1), ends(2, 1, 1)},
	},
	{
		name: "per-index", job: with(indexed(4, 4, ""), func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(1)) }),
		script: []step{endsIndex(4, "1", 1), endsIndex(4, "0", 0), endsIndex(3, "1", 1), ends(2, 2, 0)},
	},
	{
		name: "too-many-indexes", job: with(indexed(3, 6, ""), func(s *batchv1.JobSpec) {
			s.BackoffLimitPerIndex, s.MaxFailedIndexes = new(int32(0)), new(int32(1))
		}),
		script: []step{endsIndex(3, "0", 1), endsIndex(3, "2", 0), endsIndex(3, "1", 1)},
	},
	{
		name: "policy-fails-the-job", job: with(indexed(3, 4, ""), func(s *batchv1.JobSpec) { s.PodFailurePolicy = onExit(batchv1.PodFailurePolicyActionFailJob, 42) }),
		script: []step{endsIndex(3, "1", 0), endsIndex(3, "2", 42)},
	},
	{
		name: "policy-ignores", job: with(pods(2, 3, ""), func(s *batchv1.JobSpec) {
			s.BackoffLimit = new(int32(0))
			s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
				Action:          batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			}}}
		}),
		script: []step{ends(2, 1, disrupted), ends(2, 1, 0), ends(2, 2, 0)},
	},
	{
		name: "policy-fails-the-index", job: with(indexed(3, 3, ""), func(s *batchv1.JobSpec) {
			s.BackoffLimitPerIndex, s.PodFailurePolicy = new(int32(3)), onExit(batchv1.PodFailurePolicyActionFailIndex, 7)
		}),
		script: []step{endsIndex(3, "2", 7), ends(2, 1, 0), ends(1, 1, 0)},
	},
	{
		name: "suspended", job: with(indexed(2, 4, ""), func(s *batchv1.JobSpec) { s.Suspend = new(true) }),
		script: []step{
			edits(0, true, `"suspend":false`), endsIndex(2, "0", 0), edits(2, false, `"suspend":true`), edits(0, true, `"suspend":false`),
			ends(2, 1, 0), ends(2, 2, 0),
		},
	},
	{
		name: "replaced-when-failed", job: with(pods(2, 3, ""), func(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.Failed) }),
		script: []step{ends(2, 1, 0), evicts(2), ends(2, 2, 0)},
	},
	{
		name: "elastic", job: indexed(4, 4, ""),
		script: []step{edits(4, false, `"completions":2,"parallelism":2`), edits(2, false, `"completions":3,"parallelism":3`), ends(3, 2, 0), ends(1, 1, 0)},
	},
}

// turnOf returns the turn from which on step k of the nth Job may be done. The scripts are spread over all turns and
// end in the last one; those of a quarter of the Jobs end one turn earlier.
func (r *role) turnOf(k, nth, turns int) int {
	turn := (k+1)*turns/len(r.script) - 1
	if nth/len(cast)%4 == 3 {
		turn--
	}
	return max(turn, 0)
}

// bornIn returns the turn in which the nth Job is created; for a quarter of the Jobs it is our turn.
func bornIn(nth int) int {
	if nth/len(cast)%4 == 2 {
		return 1
	}
	return 0
}

// byIndex orders pods by their index and then by their age.
func byIndex(a, b *corev1.Pod) int {
	if c := slices.Compare([]string{a.Annotations[batchv1.JobCompletionIndexAnnotation]}, []string{b.Annotations[batchv1.JobCompletionIndexAnnotation]}); c != 0 {
		return c
	}
	return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
}
