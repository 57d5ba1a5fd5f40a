package podfailure

import (
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Verdict is what a podFailurePolicy says about a failed pod. Action is empty if no rule matches.
type Verdict struct {
	Action  batchv1.PodFailurePolicyAction
	Message string // message of the Job's condition, if this pod makes the Job fail (J-132)
}

// Judge returns what the first rule that matches the pod's present state says (J-127, J-129, J-130).
func Judge(j *batchv1.Job, p *corev1.Pod) Verdict {
	if j.Spec.PodFailurePolicy == nil {
		return Verdict{}
	}
	name := p.Namespace + "/" + p.Name
	for i, r := range j.Spec.PodFailurePolicy.Rules {
		if r.Action == batchv1.PodFailurePolicyActionFailIndex && j.Spec.BackoffLimitPerIndex == nil {
			continue
		}
		if r.OnExitCodes != nil {
			if container, code, ok := exits(r.OnExitCodes, p); ok {
				return Verdict{r.Action, fmt.Sprintf("Container %s for pod %s failed with exit code %d matching FailJob rule at index %d", container, name, code, i)}
			}
			continue
		}
		for _, c := range p.Status.Conditions {
			if slices.ContainsFunc(r.OnPodConditions, func(o batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
				return o.Type == c.Type && o.Status == c.Status
			}) {
				return Verdict{r.Action, fmt.Sprintf("Pod %s has condition %s matching FailJob rule at index %d", name, c.Type, i)}
			}
		}
	}
	return Verdict{}
}

// exits returns the first container whose exit code matches the rule.
func exits(r *batchv1.PodFailurePolicyOnExitCodesRequirement, p *corev1.Pod) (container string, code int32, ok bool) {
	for _, s := range slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses) {
		t := s.State.Terminated
		if t == nil || t.ExitCode == 0 || r.ContainerName != nil && *r.ContainerName != s.Name {
			continue
		}
		if slices.Contains(r.Values, t.ExitCode) == (r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
			return s.Name, t.ExitCode, true
		}
	}
	return "", 0, false
}

// Ignored reports whether the pod has failed and its failure does not count (J-114).
func Ignored(j *batchv1.Job, p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodFailed && Judge(j, p).Action == batchv1.PodFailurePolicyActionIgnore
}

// Earlier returns how many earlier pods of the index have failed, as this pod's annotations say (J-067): counted are
// those whose failure counts.
func Earlier(p *corev1.Pod) (counted, all int32) {
	number := func(annotation string) int32 {
		n, err := strconv.ParseInt(p.Annotations[annotation], 10, 32)
		if err != nil {
			return 0
		}
		return int32(n)
	}
	counted = number(batchv1.JobIndexFailureCountAnnotation)
	return counted, counted + number(batchv1.JobIndexIgnoredFailureCountAnnotation)
}

// Exhausts reports whether the pod's failure ends its index (J-116).
func Exhausts(j *batchv1.Job, p *corev1.Pod) bool {
	if j.Spec.BackoffLimitPerIndex == nil {
		return false
	}
	action := batchv1.PodFailurePolicyAction("")
	if p.Status.Phase == corev1.PodFailed {
		action = Judge(j, p).Action
	}
	counted, _ := Earlier(p)
	return action == batchv1.PodFailurePolicyActionFailIndex ||
		action != batchv1.PodFailurePolicyActionIgnore && counted >= *j.Spec.BackoffLimitPerIndex
}
