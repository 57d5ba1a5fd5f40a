package kubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Exit code of a container that was asked to stop, with SIGTERM.
const exitStopped = 143

// SetRunning changes the status s: all containers of the Pod are running and ready.
func SetRunning(pod *corev1.Pod, s *corev1.PodStatus, now metav1.Time) {
	s.Phase = corev1.PodRunning
	s.StartTime = &now
	s.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
		setCondition(s, kind, corev1.ConditionTrue, "", now)
	}
}

// SetEnded changes the status s: all containers of the Pod have ended with this exit code.
func SetEnded(pod *corev1.Pod, s *corev1.PodStatus, code int32, now metav1.Time) {
	s.Phase = corev1.PodSucceeded
	reason := "PodCompleted"
	if code != 0 {
		s.Phase, reason = corev1.PodFailed, "PodFailed"
	}
	if len(s.ContainerStatuses) == 0 { // if the Pod was stopped before it started, it has no container statuses yet
		for _, c := range pod.Spec.Containers {
			s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image})
		}
	}
	for i := range s.ContainerStatuses {
		c := &s.ContainerStatuses[i]
		c.State = corev1.ContainerState{Terminated: terminated(c.State.Running, code, now)}
		c.Ready, c.Started = false, new(false)
	}
	setCondition(s, corev1.ContainersReady, corev1.ConditionFalse, reason, now)
	setCondition(s, corev1.PodReady, corev1.ConditionFalse, reason, now)
}

// SetRestarted changes the status s: all containers of the Pod have ended with this exit code, and were restarted in
// place.
func SetRestarted(s *corev1.PodStatus, code int32, now metav1.Time) {
	for i := range s.ContainerStatuses {
		c := &s.ContainerStatuses[i]
		c.LastTerminationState = corev1.ContainerState{Terminated: terminated(c.State.Running, code, now)}
		c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		c.RestartCount++
	}
}

func terminated(running *corev1.ContainerStateRunning, code int32, now metav1.Time) *corev1.ContainerStateTerminated {
	t := &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Completed", FinishedAt: now}
	if code != 0 {
		t.Reason = "Error"
	}
	if running != nil {
		t.StartedAt = running.StartedAt
	}
	return t
}

func setCondition(s *corev1.PodStatus, kind corev1.PodConditionType, status corev1.ConditionStatus, reason string, now metav1.Time) {
	i := slices.IndexFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: kind})
		i = len(s.Conditions) - 1
	}
	c := &s.Conditions[i]
	if c.Status != status {
		c.LastTransitionTime = now
	}
	c.Status, c.Reason = status, reason
}
