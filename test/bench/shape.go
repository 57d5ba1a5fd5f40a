package bench

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// shape describes a Job, and how it is expected to end.
type shape struct {
	name              string
	pods, parallelism int32
	indexed           bool
	fail              int  // number of its pods that fail and are replaced
	perIndex          bool // each index has its own backoff limit
	alike             bool // all its pods end at once and succeed, in any profile
}

// node is the nodeName of every pod of profile Instant, so that no scheduler is needed. No node has this name.
const node = "bench"

// job returns the Job that a shape describes, for the profile of this run.
func (r *run) job(s shape) *batchv1.Job {
	job := s.job()
	if r.config.Setting.Profile != Instant {
		job.Spec.Template.Spec.NodeName = ""
	}
	if r.config.Setting.Profile == Cluster {
		job.Spec.Template.Annotations = r.annotations(s)
	}
	return job
}

func (s shape) job() *batchv1.Job {
	mode, never := batchv1.NonIndexedCompletion, int32(1000)
	if s.indexed {
		mode = batchv1.IndexedCompletion
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: s.name},
		Spec: batchv1.JobSpec{
			Completions: &s.pods, Parallelism: &s.parallelism, CompletionMode: &mode, BackoffLimit: &never,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				NodeName: node, RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "main", Image: "none"}},
			}},
		},
	}
	if s.perIndex {
		once := int32(1)
		job.Spec.BackoffLimit, job.Spec.BackoffLimitPerIndex = nil, &once
	}
	return job
}
