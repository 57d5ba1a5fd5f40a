package handover

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/test/internal/history"
)

// outcomes returns how the Jobs ended, by name: what users see of them and of their pods, without times and random
// names.
func outcomes(h *history.History) map[string]string {
	newest := map[types.UID]history.Change{} // of pods
	pods := map[types.UID]map[types.UID]bool{}
	names := map[types.UID]string{}
	for uid, job := range h.Now().Jobs {
		names[job.UID] = uid
		pods[job.UID] = map[types.UID]bool{}
		for _, c := range h.Changes(job.UID) {
			if c.Pod != nil {
				newest[c.Pod.UID] = c
				pods[job.UID][c.Pod.UID] = true
			}
		}
	}
	all := map[string]string{}
	for uid, name := range names {
		lines := map[string]int{}
		for pod := range pods[uid] {
			lines[podOutcome(newest[pod])]++
		}
		var text []string
		for _, line := range slices.Sorted(maps.Keys(lines)) {
			text = append(text, fmt.Sprintf("%d x %s", lines[line], line))
		}
		job := h.Now().Jobs[name].DeepCopy()
		forgetDeletedIndexes(job, func(yield func(history.Change) bool) {
			for pod := range pods[uid] {
				if !yield(newest[pod]) {
					return
				}
			}
		})
		all[name] = jobOutcome(job) + "\n    " + strings.Join(text, "\n    ")
	}
	return all
}

// jobOutcome returns the status of a Job. Names of pods are removed from messages.
func jobOutcome(job *batchv1.Job) string {
	s := job.Status.DeepCopy()
	var conditions []string
	for _, c := range s.Conditions {
		message := c.Message
		if at := strings.Index(message, job.Namespace+"/"); at >= 0 {
			rest := message[at:]
			message = message[:at] + "POD" + rest[strings.IndexAny(rest+" ", " "):]
		}
		conditions = append(conditions, fmt.Sprintf("%s=%s %s %q", c.Type, c.Status, c.Reason, message))
	}
	slices.Sort(conditions)
	failed, uncounted := "none", 0
	if s.FailedIndexes != nil {
		failed = *s.FailedIndexes
	}
	if u := s.UncountedTerminatedPods; u != nil {
		uncounted = len(u.Succeeded) + len(u.Failed)
	}
	number := func(n *int32) int32 {
		if n == nil {
			return 0
		}
		return *n
	}
	return fmt.Sprintf("succeeded %d (%s), failed %d (%s), active %d, ready %d, terminating %d, uncounted %d, started %t, completed %t, %s",
		s.Succeeded, s.CompletedIndexes, s.Failed, failed, s.Active, number(s.Ready), number(s.Terminating), uncounted,
		s.StartTime != nil, s.CompletionTime != nil, strings.Join(conditions, ", "))
}

// podOutcome returns how a pod ended.
func podOutcome(c history.Change) string {
	pod := c.Pod
	text := fmt.Sprintf("index %q, %s, gone %t", pod.Annotations[batchv1.JobCompletionIndexAnnotation], pod.Status.Phase, c.Gone)
	if !c.Gone { // the last version of a pod that is gone depends on timing
		text += fmt.Sprintf(", finalizers %v", pod.Finalizers)
	}
	if n, ok := pod.Annotations[batchv1.JobIndexFailureCountAnnotation]; ok {
		text += ", failures before " + n
	}
	for _, s := range pod.Status.ContainerStatuses {
		if ended := s.State.Terminated; ended != nil && pod.Status.Phase == corev1.PodFailed {
			text += fmt.Sprintf(", exit code %d", ended.ExitCode)
		}
	}
	return text
}
