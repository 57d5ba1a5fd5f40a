package causes

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The functions below return changes of a pod's status, as a kubelet makes them.

// Waits returns the change that a container waits to start, for the first time or again.
func Waits(container int, reason, message string) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		c := &p.ContainerStatuses[container]
		if ended := c.State.Terminated; ended != nil {
			c.LastTerminationState = corev1.ContainerState{Terminated: ended}
		}
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		setReady(p, false)
	}
}

// Runs returns the change that a container has started, for the first time or again.
func Runs(container int) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		c := &p.ContainerStatuses[container]
		// The last run has ended, so this is a restart: keep its end as the last termination state.
		if ended := c.State.Terminated; ended != nil {
			c.LastTerminationState = corev1.ContainerState{Terminated: ended}
		}
		if c.LastTerminationState.Terminated != nil {
			c.RestartCount++
		}
		p.Phase, c.Ready, c.Started = corev1.PodRunning, true, new(true)
		c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		setReady(p, true)
	}
}

// Ends returns the change that a container has ended with this exit code.
func Ends(container int, code int32, reason, message string) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		c := &p.ContainerStatuses[container]
		started := metav1.NewTime(time.Now().Add(-time.Second))
		if c.State.Running != nil {
			started = c.State.Running.StartedAt
		}
		c.Ready, c.Started = false, new(false)
		c.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, Message: message, StartedAt: started, FinishedAt: metav1.Now(),
		}}
		setReady(p, false)
	}
}

// Is returns the change that the pod gets this phase.
func Is(phase corev1.PodPhase) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) { p.Phase = phase }
}

// All returns one change that makes all these changes in one write.
func All(changes ...func(*corev1.PodStatus)) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		for _, change := range changes {
			change(p)
		}
	}
}

func setReady(p *corev1.PodStatus, ready bool) {
	status, reason := corev1.ConditionFalse, "ContainersNotReady"
	if ready {
		status, reason = corev1.ConditionTrue, ""
	}
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		set := false
		for i := range p.Conditions {
			if c := &p.Conditions[i]; c.Type == kind {
				set = true
				if c.Status != status {
					c.Status, c.Reason, c.LastTransitionTime = status, reason, metav1.Now()
				}
			}
		}
		if !set {
			p.Conditions = append(p.Conditions, corev1.PodCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.Now()})
		}
	}
}
