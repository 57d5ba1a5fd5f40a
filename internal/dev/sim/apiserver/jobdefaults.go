package apiserver

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Numeric defaults of the Job API.
const (
	defaultBackoffLimit = 6
	defaultGrace        = int64(corev1.DefaultTerminationGracePeriodSeconds)
)

// defaultJob sets the defaults of batch/v1 (J-267).
func defaultJob(job *batchv1.Job) {
	spec := &job.Spec
	if spec.Completions == nil && spec.Parallelism == nil {
		spec.Completions = new(int32(1))
	}
	setDefault(&spec.Parallelism, 1)
	limit := int32(defaultBackoffLimit)
	if spec.BackoffLimitPerIndex != nil {
		limit = math.MaxInt32
	}
	setDefault(&spec.BackoffLimit, limit)
	setDefault(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	setDefault(&spec.Suspend, false)
	setDefault(&spec.ManualSelector, false)
	replacement := batchv1.TerminatingOrFailed
	if spec.PodFailurePolicy != nil {
		replacement = batchv1.Failed
		defaultPodConditions(spec.PodFailurePolicy)
	}
	setDefault(&spec.PodReplacementPolicy, replacement)
	if len(job.Labels) == 0 && len(spec.Template.Labels) > 0 {
		job.Labels = map[string]string{}
		for k, v := range spec.Template.Labels {
			job.Labels[k] = v
		}
	}
	defaultPodSpec(&spec.Template.Spec)
}

func setDefault[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func defaultPodConditions(policy *batchv1.PodFailurePolicy) {
	for i := range policy.Rules {
		for j := range policy.Rules[i].OnPodConditions {
			pattern := &policy.Rules[i].OnPodConditions[j]
			if pattern.Status == "" {
				pattern.Status = corev1.ConditionTrue
			}
		}
	}
}

// defaultPodSpec sets those defaults of a pod's spec that a Job controller or the simulated kubelet reads.
func defaultPodSpec(spec *corev1.PodSpec) {
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	if spec.DNSPolicy == "" {
		spec.DNSPolicy = corev1.DNSClusterFirst
	}
	if spec.SchedulerName == "" {
		spec.SchedulerName = corev1.DefaultSchedulerName
	}
	setDefault(&spec.TerminationGracePeriodSeconds, defaultGrace)
	setDefault(&spec.SecurityContext, corev1.PodSecurityContext{})
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			defaultContainer(&containers[i])
		}
	}
}

func defaultContainer(c *corev1.Container) {
	if c.TerminationMessagePath == "" {
		c.TerminationMessagePath = corev1.TerminationMessagePathDefault
	}
	if c.TerminationMessagePolicy == "" {
		c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	}
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = corev1.PullIfNotPresent
	}
	for i := range c.Env {
		if source := c.Env[i].ValueFrom; source != nil && source.FieldRef != nil && source.FieldRef.APIVersion == "" {
			source.FieldRef.APIVersion = "v1"
		}
	}
}

// Labels of Kubernetes before 1.27 that the API server still puts on a Job's template when it generates the selector
// (J-181). batch/v1 has no constants for them.
const (
	labelLegacyControllerUID = "controller-uid"
	labelLegacyJobName       = "job-name"
)

// generateSelector makes the Job's selector and the template labels that it selects, unless manualSelector is true.
func generateSelector(job *batchv1.Job) {
	if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	labels := job.Spec.Template.Labels
	if labels == nil {
		labels = map[string]string{}
		job.Spec.Template.Labels = labels
	}
	labels[labelLegacyControllerUID] = string(job.UID)
	labels[batchv1.ControllerUidLabel] = string(job.UID)
	labels[labelLegacyJobName] = job.Name
	labels[batchv1.JobNameLabel] = job.Name
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	if job.Spec.Selector.MatchLabels == nil {
		job.Spec.Selector.MatchLabels = map[string]string{}
	}
	job.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(job.UID)
}
