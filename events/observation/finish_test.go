package observation

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// sec is the time so many seconds after the tests' epoch.
func sec(n int) metav1.Time { return metav1.NewTime(epoch.Add(time.Duration(n) * time.Second)) }

func ended(name string, n int) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	if n > 0 {
		s.State.Terminated.FinishedAt = sec(n)
	}
	return s
}

func running(name string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func containers(list ...corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.ContainerStatuses = list }
}

func initContainer(restart *corev1.ContainerRestartPolicy, s corev1.ContainerStatus) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: s.Name, RestartPolicy: restart})
		p.Status.InitContainerStatuses = append(p.Status.InitContainerStatuses, s)
	}
}

func condition(kind corev1.PodConditionType, status corev1.ConditionStatus, n int) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
			Type: kind, Status: status, LastTransitionTime: sec(n),
		})
	}
}

func deleted(n int, grace int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.DeletionTimestamp = new(sec(n))
		p.DeletionGracePeriodSeconds = &grace
	}
}

// J-110: a pod finished when the last of its regular containers and sidecars did; else when it stopped being ready;
// else when its deletion was asked for; else when it was created.
func TestFinishTime(t *testing.T) {
	always := new(corev1.ContainerRestartPolicyAlways)
	notReady := condition(corev1.PodReady, corev1.ConditionFalse, 50)
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		want int // seconds after the epoch, at which it was created
	}{
		{"the last container to end, which is named first", testPod("p", containers(ended("a", 20), ended("b", 10)), notReady), 20},
		{"the last container to end", testPod("p", containers(ended("a", 10), ended("b", 20)), notReady), 20},
		{"a sidecar that ended last", testPod("p", containers(ended("a", 10)), initContainer(always, ended("s", 30)), notReady), 30},
		{"an init container does not count", testPod("p", containers(ended("a", 10)), initContainer(nil, ended("i", 5)), notReady), 10},
		{"an init container that never ran does not hide the end", testPod("p", containers(ended("a", 10)), initContainer(nil, running("i")), notReady), 10},
		{"a container that still runs", testPod("p", containers(ended("a", 10), running("b")), notReady), 50},
		{"a sidecar that still runs", testPod("p", containers(ended("a", 10)), initContainer(always, running("s")), notReady), 50},
		{"an end without a time", testPod("p", containers(ended("a", 0)), notReady), 50},
		{"no containers", testPod("p", notReady), 50},
		{"ready is no end", testPod("p", condition(corev1.PodReady, corev1.ConditionTrue, 50), deleted(90, 30)), 60},
		{"deleted with a grace period", testPod("p", deleted(90, 30)), 60},
		{"deleted, and not ready since", testPod("p", deleted(90, 30), notReady), 50},
		{"nothing is known", testPod("p"), 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.pod.Status.Phase = corev1.PodFailed
			got := readPod(wire(tt.pod), 1, testIdentity).seen.Finished
			if want := events.At(sec(tt.want).Time); got != want {
				t.Errorf("finished %v, want %v", got.Go(), want.Go())
			}
		})
	}
}

// J-140, J-142: a pod that is being deleted had ended by itself if all its containers have times of their ends, and all
// of them are before the second in which its deletion was asked for.
func TestEndedBeforeItsDeletion(t *testing.T) {
	always := new(corev1.ContainerRestartPolicyAlways)
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		want bool
	}{
		{"it ended a second before", testPod("p", containers(ended("a", 10), ended("b", 59)), deleted(90, 30)), true},
		{"it ended in that second", testPod("p", containers(ended("a", 60)), deleted(90, 30)), false},
		{"it ended after it, within the grace period", testPod("p", containers(ended("a", 61)), deleted(90, 30)), false},
		{"it ended after it, and the kubelet shortened the grace period", testPod("p", containers(ended("a", 61)), deleted(60, 0)), false},
		{"one container ended after it", testPod("p", containers(ended("a", 10), ended("b", 70)), deleted(90, 30)), false},
		{"a sidecar ended after it", testPod("p", containers(ended("a", 10)), initContainer(always, ended("s", 70)), deleted(90, 30)), false},
		{"a container never ended", testPod("p", containers(ended("a", 10), running("b")), deleted(90, 30)), false},
		{"it has no containers", testPod("p", deleted(90, 30)), false},
		{"it is not being deleted", testPod("p", containers(ended("a", 10))), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.pod.Status.Phase = corev1.PodFailed
			if got := readPod(wire(tt.pod), 1, testIdentity).seen.EndedFirst; got != tt.want {
				t.Errorf("ended first: %t, want %t", got, tt.want)
			}
		})
	}
}

func TestOnlyEndedOrDeletedPodsHaveAFinishTime(t *testing.T) {
	for _, tt := range []struct {
		name string
		pod  *corev1.Pod
		want bool
	}{
		{"running", testPod("p", phase(corev1.PodRunning)), false},
		{"running and being deleted", testPod("p", phase(corev1.PodRunning), deleted(9, 0)), true},
		{"succeeded", testPod("p", phase(corev1.PodSucceeded)), true},
		{"failed", testPod("p", phase(corev1.PodFailed)), true},
	} {
		if got := readPod(wire(tt.pod), 1, testIdentity).seen.Finished != 0; got != tt.want {
			t.Errorf("%s: has a finish time: %v", tt.name, got)
		}
	}
}
