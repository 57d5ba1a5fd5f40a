package bench

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// firstBackoff is how long an index waits after its first pod has failed. The controller counts from the time at which the container
// ended, which has whole seconds.
const firstBackoff = 10 * time.Second

// retries are how late the second pods of the indexes of one Job came. Its zero value has seen none.
type retries struct {
	due  map[string]time.Time // by index: when it may have its second pod
	late []time.Duration      // less than none for one that came too early
}

// see takes a pod as it is seen at a time; first says that it was not seen before.
func (r *retries) see(pod *corev1.Pod, first bool, now time.Time) {
	index, indexed := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	if !indexed {
		return
	}
	if due, failed := r.due[index]; failed && first {
		r.late = append(r.late, now.Sub(due))
		delete(r.due, index)
		return
	}
	if pod.Status.Phase != corev1.PodFailed || pod.Annotations[batchv1.JobIndexFailureCountAnnotation] != "0" {
		return
	}
	for _, c := range pod.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			if r.due == nil {
				r.due = map[string]time.Time{}
			}
			r.due[index] = t.FinishedAt.Add(firstBackoff)
		}
	}
}
