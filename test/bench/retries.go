package bench

import (
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// firstBackoff is how long a controller waits after the first failed pod of a Job. Each further failure doubles the
// wait, in a Job without limits per index. The controller counts from the end of the container, which is stored in
// whole seconds.
const firstBackoff = 10 * time.Second

// retries measures how late a failed pod is replaced after its backoff (the wait that the Job's rules ask for). It
// works for Jobs with a backoff for each index, and for Jobs with one pod.
type retries struct {
	due    map[string]time.Time // by index: the time from which its next pod may be created
	failed int                  // number of failed pods, for a Job with one pod
	seen   map[types.UID]bool   // pods that failed
	late   []time.Duration      // delays after the backoff; negative for a pod that came too early
}

// see notes a change of a pod, as it was seen at now. of describes the pod's Job, and first is true if the pod was not
// seen before.
func (r *retries) see(pod *corev1.Pod, of shape, first bool, now time.Time) {
	index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	if !of.perIndex && of.pods != 1 {
		return
	}
	if first {
		if due, failed := r.due[index]; failed {
			r.late = append(r.late, now.Sub(due))
			delete(r.due, index)
		}
		return
	}
	ended := failedAt(pod)
	if r.seen[pod.UID] || ended.IsZero() {
		return
	}
	backoff := firstBackoff << r.failed
	if of.perIndex {
		before, err := strconv.Atoi(pod.Annotations[batchv1.JobIndexFailureCountAnnotation])
		// Do not measure if the index failed before (two failures are its limit), or its annotation cannot be read.
		if err != nil || before > 0 {
			return
		}
		backoff = firstBackoff
	} else {
		r.failed++
	}
	if r.due == nil {
		r.due, r.seen = map[string]time.Time{}, map[types.UID]bool{}
	}
	r.seen[pod.UID] = true
	r.due[index] = ended.Add(backoff)
}

// failedAt returns when the container of a failed pod ended; zero for any other pod.
func failedAt(pod *corev1.Pod) time.Time {
	if pod.Status.Phase != corev1.PodFailed {
		return time.Time{}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if t := c.State.Terminated; t != nil {
			return t.FinishedAt.Time
		}
	}
	return time.Time{}
}
