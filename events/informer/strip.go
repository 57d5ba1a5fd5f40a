package informer

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// lastApplied is where kubectl keeps a copy of the whole manifest, secrets included.
const lastApplied = corev1.LastAppliedConfigAnnotation

// stripJob takes off what neither observations nor the keeper need. Annotations stay, all of them: a status write sends
// the metadata back, and what it leaves out is gone (J-207). Of the managed fields only the time stays at which the
// built-in controllers last wrote the status, and who changed the spec.
func stripJob(job *batchv1.Job) {
	var kept []metav1.ManagedFieldsEntry
	for _, e := range job.ManagedFields {
		if e.Manager == events.BuiltinManager && e.Subresource == statusSubresource && e.Time != nil {
			kept = append(kept, metav1.ManagedFieldsEntry{Manager: e.Manager, Subresource: e.Subresource, Time: e.Time})
		}
	}
	job.ManagedFields = append(kept, stripEditors(job.ManagedFields)...)
}

const statusSubresource = "status"

// builtinWrote is when the built-in controllers last wrote the Job's status, by the API server's clock; 0 for never.
func builtinWrote(job *batchv1.Job) (newest events.Time) {
	for _, e := range job.ManagedFields {
		if e.Manager == events.BuiltinManager && e.Subresource == statusSubresource {
			newest = max(newest, instant(e.Time))
		}
	}
	return newest
}

// stripPod leaves what observations read: metadata, the node, which init containers are sidecars, and the status. Of a pod without a
// node the spec stays.
func stripPod(pod *corev1.Pod) {
	pod.ManagedFields = nil
	delete(pod.Annotations, lastApplied)
	if pod.Spec.NodeName == "" {
		pod.Status = strippedStatus(&pod.Status)
		return // it may be new: admitted.go compares its spec once, and nothing keeps it
	}
	spec := corev1.PodSpec{NodeName: pod.Spec.NodeName}
	for _, c := range pod.Spec.InitContainers {
		spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy})
	}
	pod.Spec = spec
	pod.Status = strippedStatus(&pod.Status)
}

func strippedStatus(s *corev1.PodStatus) corev1.PodStatus {
	return corev1.PodStatus{
		Phase:                 s.Phase,
		Reason:                s.Reason,
		Message:               s.Message,
		Conditions:            s.Conditions,
		ContainerStatuses:     s.ContainerStatuses,
		InitContainerStatuses: s.InitContainerStatuses,
	}
}
