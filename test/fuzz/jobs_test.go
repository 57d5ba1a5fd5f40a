package fuzz

import (
	"fmt"
	"math/rand/v2"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/internal/kubelet"
)

// Exit codes in the random policies.
const (
	exitFatal   = 42 // fails the Job
	exitCounted = 3  // counts
	exitIndex   = 7  // fails its index
)

var exitCodes = []int32{1, 1, exitCounted, exitIndex, exitFatal, 137}

// randomJob returns a Job of any kind that the API accepts.
func randomJob(r *rand.Rand, name string) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			ManagedBy:    new(events.ManagedBy),
			Parallelism:  new(1 + r.Int32N(4)),
			BackoffLimit: new(r.Int32N(6)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
			}},
		},
	}
	kubelet.Place(&j.Spec.Template)
	s := &j.Spec
	if chance(r, 0.15) {
		s.Suspend = new(true)
	}
	if chance(r, 0.1) {
		s.ActiveDeadlineSeconds = new(1 + r.Int64N(5))
	}
	switch kind := r.IntN(5); kind {
	case 0: // a work queue
	case 1:
		s.Completions = new(r.Int32N(7))
	default:
		randomIndexed(r, s, kind)
	}
	randomPolicies(r, s)
	return j
}

// randomIndexed makes the Job Indexed; kind 4 has a limit for each index.
func randomIndexed(r *rand.Rand, s *batchv1.JobSpec, kind int) {
	s.CompletionMode = new(batchv1.IndexedCompletion)
	s.Completions = new(r.Int32N(7))
	if kind == 3 && *s.Completions > 0 { // elastic
		s.Parallelism = new(*s.Completions)
	}
	if kind == 4 {
		s.BackoffLimitPerIndex = new(r.Int32N(3))
		s.BackoffLimit = nil
		if chance(r, 0.4) {
			s.MaxFailedIndexes = new(r.Int32N(*s.Completions + 1))
		}
	}
	if chance(r, 0.25) && *s.Completions > 0 {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{randomSuccess(r, *s.Completions)}}
	}
}

func randomSuccess(r *rand.Rand, completions int32) batchv1.SuccessPolicyRule {
	if chance(r, 0.5) {
		return batchv1.SuccessPolicyRule{SucceededCount: new(1 + r.Int32N(completions))}
	}
	text := "0"
	if last := r.Int32N(completions); last > 0 {
		text = fmt.Sprintf("0-%d", last)
	}
	return batchv1.SuccessPolicyRule{SucceededIndexes: &text}
}

func randomPolicies(r *rand.Rand, s *batchv1.JobSpec) {
	switch {
	case chance(r, 0.35):
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: randomRules(r, s.BackoffLimitPerIndex != nil)}
	case chance(r, 0.4):
		s.PodReplacementPolicy = new(batchv1.Failed)
	case chance(r, 0.3) && s.BackoffLimitPerIndex == nil:
		s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}
}

func randomRules(r *rand.Rand, perIndex bool) []batchv1.PodFailurePolicyRule {
	onExit := func(code int32, action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code},
		}}
	}
	rules := []batchv1.PodFailurePolicyRule{
		onExit(exitCounted, batchv1.PodFailurePolicyActionCount),
		onExit(exitFatal, batchv1.PodFailurePolicyActionFailJob),
		{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			},
		},
	}
	if perIndex {
		rules = append(rules, onExit(exitIndex, batchv1.PodFailurePolicyActionFailIndex))
	}
	r.Shuffle(len(rules), func(i, k int) { rules[i], rules[k] = rules[k], rules[i] })
	return rules[:1+r.IntN(len(rules))]
}

func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }
