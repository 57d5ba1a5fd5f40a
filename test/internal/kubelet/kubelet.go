package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Node is the name of the node for which the test acts as the kubelet.
const Node = "by-hand"

// Kubelet writes pod statuses as a kubelet would.
type Kubelet struct {
	client kubernetes.Interface
	exact  bool
}

// New registers the node, unless it exists already, and returns its kubelet. The client must be allowed to write nodes
// and pod statuses.
func New(ctx context.Context, client kubernetes.Interface) (*Kubelet, error) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: Node}}
	if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("register node %s: %w", Node, err)
	}
	return &Kubelet{client: client}, nil
}

// Exact returns a Kubelet that writes only to the version of the pod that it is given; for another version it returns a
// conflict. So it can never make a pod run again that has ended.
func (k *Kubelet) Exact() *Kubelet { return &Kubelet{client: k.client, exact: true} }

// Place makes the pods of a template run on the node of this package.
func Place(template *corev1.PodTemplateSpec) { template.Spec.NodeName = Node }

// Run sets the pod to Running, and to Ready if ready is set.
func (k *Kubelet) Run(ctx context.Context, pod *corev1.Pod, ready bool) error {
	s := corev1.PodStatus{Phase: corev1.PodRunning, StartTime: new(metav1.Now()), Conditions: conditions(ready)}
	for _, c := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: ready, Started: new(true), RestartCount: restarts(pod),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}},
		})
	}
	return k.write(ctx, pod, s)
}

// Restart sets the pod to Running again, after its containers ended and were restarted.
func (k *Kubelet) Restart(ctx context.Context, pod *corev1.Pod, ready bool) error {
	again := pod.DeepCopy()
	if len(again.Status.ContainerStatuses) > 0 {
		again.Status.ContainerStatuses[0].RestartCount++
	}
	return k.Run(ctx, again, ready)
}

// Wait sets the containers of a pod that does not run yet to waiting, with a reason.
func (k *Kubelet) Wait(ctx context.Context, pod *corev1.Pod, reason, message string) error {
	s := corev1.PodStatus{Phase: corev1.PodPending, StartTime: new(metav1.Now()), Conditions: conditions(false)}
	for _, c := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(false), RestartCount: restarts(pod),
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		})
	}
	return k.write(ctx, pod, s)
}

func restarts(pod *corev1.Pod) int32 {
	if len(pod.Status.ContainerStatuses) == 0 {
		return 0
	}
	return pod.Status.ContainerStatuses[0].RestartCount
}

// Succeed ends the pod now, as Succeeded.
func (k *Kubelet) Succeed(ctx context.Context, pod *corev1.Pod) error {
	return k.write(ctx, pod, ended(pod, corev1.PodSucceeded, 0))
}

// Fail ends the pod now, as Failed, with an exit code for all containers. It also sets the conditions in also to True.
func (k *Kubelet) Fail(ctx context.Context, pod *corev1.Pod, exitCode int32, also ...corev1.PodConditionType) error {
	s := ended(pod, corev1.PodFailed, exitCode)
	for _, kind := range also {
		s.Conditions = append(s.Conditions, corev1.PodCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: "Test", LastTransitionTime: metav1.Now(),
		})
	}
	return k.write(ctx, pod, s)
}

// Remove completes the deletion of a pod. The pod disappears when it has no finalizer any more.
func (k *Kubelet) Remove(ctx context.Context, pod *corev1.Pod) error {
	err := k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
	if err != nil {
		return fmt.Errorf("let go of pod %s: %w", pod.Name, err)
	}
	return nil
}

func ended(pod *corev1.Pod, phase corev1.PodPhase, exitCode int32) corev1.PodStatus {
	reason := "Completed"
	if phase == corev1.PodFailed {
		reason = "Error"
	}
	s := corev1.PodStatus{Phase: phase, StartTime: pod.Status.StartTime, Conditions: conditions(false)}
	for _, c := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(false), RestartCount: restarts(pod),
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: exitCode, Reason: reason, StartedAt: metav1.NewTime(time.Now().Add(-time.Second)), FinishedAt: metav1.Now(),
			}},
		})
	}
	return s
}

func conditions(ready bool) []corev1.PodCondition {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	return []corev1.PodCondition{{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Now()}}
}

// write replaces the status of this pod. A new pod of the same name is never changed.
func (k *Kubelet) write(ctx context.Context, pod *corev1.Pod, s corev1.PodStatus) error {
	meta := map[string]any{"uid": pod.UID}
	if k.exact {
		meta["resourceVersion"] = pod.ResourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": meta, "status": s})
	if err != nil {
		return fmt.Errorf("encode the status of pod %s: %w", pod.Name, err)
	}
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("write the status of pod %s: %w", pod.Name, err)
	}
	return nil
}
