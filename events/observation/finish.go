package observation

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// finishTime returns when an ended or deleted pod finished. It is the first of these that is known (J-110): the end of
// its last container, the time at which it stopped being ready, the request of its deletion, its creation.
func finishTime(pod *kubewire.Pod, sidecars []string) events.Time {
	if t := containersFinished(pod, sidecars); t != 0 {
		return t
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady && c.Status == corev1.ConditionFalse && !c.LastTransitionTime.IsZero() {
			return events.At(c.LastTransitionTime.Time)
		}
	}
	if pod.DeletionTimestamp != nil {
		return deletionAsked(pod)
	}
	return events.At(pod.CreationTimestamp.Time)
}

// deletionAsked returns when the deletion of the pod was requested: deletionTimestamp minus the grace period. The API
// server preserves this difference when a later request shortens the grace period.
func deletionAsked(pod *kubewire.Pod) events.Time {
	asked := pod.DeletionTimestamp.Time
	if grace := pod.DeletionGracePeriodSeconds; grace != nil {
		asked = asked.Add(-time.Duration(*grace) * time.Second)
	}
	return events.At(asked)
}

// endedFirst reports whether all containers of a pod that is being deleted had ended before the deletion was requested.
// The clocks of node and API server are compared in whole seconds; for the same second it returns false.
func endedFirst(pod *kubewire.Pod, sidecars []string) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	ended := containersFinished(pod, sidecars)
	return ended != 0 && ended.Second() < deletionAsked(pod).Second()
}

// containersFinished returns the latest end of the regular containers and sidecars; 0 unless all have ended.
func containersFinished(pod *kubewire.Pod, sidecars []string) events.Time {
	var latest events.Time
	later := func(c *kubewire.ContainerStatus) bool {
		t := c.State.Terminated
		if t == nil || t.FinishedAt.IsZero() {
			return false
		}
		latest = max(latest, events.At(t.FinishedAt.Time))
		return true
	}
	for i := range pod.Status.ContainerStatuses {
		if !later(&pod.Status.ContainerStatuses[i]) {
			return 0
		}
	}
	for i := range pod.Status.InitContainerStatuses {
		c := &pod.Status.InitContainerStatuses[i]
		if slices.Contains(sidecars, c.Name) && !later(c) {
			return 0
		}
	}
	return latest
}
