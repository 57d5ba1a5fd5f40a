package incidents

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// shape is the size and the policies of a Job.
type shape struct {
	name    string
	options []option
	// disrupted: a rule of its podFailurePolicy names disruptions. coded: a rule names exit codes.
	disrupted, coded bool
	restarts         bool // containers are restarted in their pod
}

var shapes = []shape{
	{name: "limit0", options: []option{limit(0)}},
	{name: "limit1", options: []option{limit(1)}},
	{name: "limit3", options: []option{limit(3)}},
	{name: "ignore", options: []option{limit(0), rules(onDisruption(batchv1.PodFailurePolicyActionIgnore))}, disrupted: true},
	{name: "count", options: []option{limit(1), rules(onDisruption(batchv1.PodFailurePolicyActionCount))}, disrupted: true},
	{name: "faildisrupted", options: []option{limit(3), rules(onDisruption(batchv1.PodFailurePolicyActionFailJob))}, disrupted: true},
	{name: "failcode", options: []option{limit(3), rules(onCodes(batchv1.PodFailurePolicyActionFailJob, 1))}, coded: true},
	{name: "parallel", options: []option{limit(6), size(3, 3)}},
	{name: "indexed", options: []option{limit(3), indexed(2, 2)}},
	{name: "perindex", options: []option{indexed(2, 2), perIndex(0)}},
	{name: "failindex", options: []option{indexed(2, 2), perIndex(2), rules(onCodes(batchv1.PodFailurePolicyActionFailIndex, 1))}, coded: true},
	{name: "success", options: []option{limit(3), indexed(3, 3), succeedsWith("1")}},
	{name: "replaced", options: []option{limit(3), replaceFailed()}},
	{name: "deadline", options: []option{limit(3), deadline(3600)}},
	{name: "ttl", options: []option{limit(0), expires(2)}},
	{name: "onfailure", options: []option{limit(3), restartPolicy(corev1.RestartPolicyOnFailure)}, restarts: true},
}

func shapeOf(name string) shape {
	for _, s := range shapes {
		if s.name == name {
			return s
		}
	}
	panic("no shape " + name)
}

func rules(all ...batchv1.PodFailurePolicyRule) option {
	return spec(func(s *batchv1.JobSpec) { s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: all} })
}

func onDisruption(action batchv1.PodFailurePolicyAction) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action:          action,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}
}

// onCodes returns a rule about all exit codes except these.
func onCodes(action batchv1.PodFailurePolicyAction, but ...int32) batchv1.PodFailurePolicyRule {
	return batchv1.PodFailurePolicyRule{
		Action:      action,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpNotIn, Values: but},
	}
}

func perIndex(n int32) option {
	return spec(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = &n })
}

func succeedsWith(indexes string) option {
	return spec(func(s *batchv1.JobSpec) {
		s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: &indexes}}}
	})
}

func replaceFailed() option {
	return spec(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.Failed) })
}

func expires(seconds int32) option {
	return spec(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = &seconds })
}

func restartPolicy(p corev1.RestartPolicy) option {
	return template(func(t *corev1.PodTemplateSpec) { t.Spec.RestartPolicy = p })
}
