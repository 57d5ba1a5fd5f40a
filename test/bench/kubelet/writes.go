package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// API makes the writes of the simulated scheduler and kubelets. It is safe for concurrent use.
type API interface {
	// Bind assigns a pod to a node.
	Bind(ctx context.Context, b *corev1.Binding) error
	// PatchStatus merges body into the pod; what the server answers is ignored.
	PatchStatus(ctx context.Context, pod *corev1.Pod, body []byte) error
}

// Through returns an API that writes to an API server with these clients. Each has the rights and the priority of its
// user.
func Through(scheduler, kubelets kubernetes.Interface) API { return clients{scheduler, kubelets} }

type clients struct{ scheduler, kubelets kubernetes.Interface }

func (c clients) Bind(ctx context.Context, b *corev1.Binding) error {
	return c.scheduler.CoreV1().Pods(b.Namespace).Bind(ctx, b, metav1.CreateOptions{})
}

func (c clients) PatchStatus(ctx context.Context, pod *corev1.Pod, body []byte) error {
	return c.kubelets.CoreV1().RESTClient().Patch(types.MergePatchType).
		Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("status").
		Body(body).Do(ctx).Error()
}

const (
	succeeded = `{"status":{"phase":"Succeeded","startTime":%q}}`
	failed    = `{"status":{"phase":"Failed","startTime":%[1]q,"containerStatuses":[{"name":%[2]q,"image":"","imageID":"","ready":false,` +
		`"restartCount":0,"state":{"terminated":{"exitCode":1,"reason":"Error","startedAt":%[1]q,"finishedAt":%[1]q}}}]}}`
)

// end ends a pod with a single write to its status: as Succeeded, or as Failed if the pod's fate says so.
func (k *Kubelet) end(ctx context.Context, pod *corev1.Pod) error {
	now := time.Now().UTC().Format(time.RFC3339)
	body := fmt.Sprintf(succeeded, now)
	if k.config.Fate(pod).Fails {
		body = fmt.Sprintf(failed, now, pod.Spec.Containers[0].Name)
	}
	if err := k.config.API.PatchStatus(ctx, pod, []byte(body)); err != nil {
		return fmt.Errorf("end pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	k.config.Ended(pod)
	return nil
}

// statusBody returns a merge patch with the whole status, so that it has the same size as a kubelet's.
func statusBody(status *corev1.PodStatus) ([]byte, error) {
	body, err := json.Marshal(struct {
		Status *corev1.PodStatus `json:"status"`
	}{status})
	if err != nil {
		return nil, fmt.Errorf("encode the status of a pod: %w", err)
	}
	return body, nil
}

// life is the status of one pod as the simulated kubelet will write it next.
type life struct {
	pod     *corev1.Pod
	status  corev1.PodStatus
	started metav1.Time
}

// creating sets the status of a pod that the kubelet has admitted, and whose container is being created.
func (l *life) creating(now metav1.Time) {
	l.status.Phase, l.status.StartTime = corev1.PodPending, &now
	l.conditions(now, false, "ContainersNotReady")
	l.container(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}})
}

// running sets the status of a pod whose container runs, and which is ready.
func (l *life) running(now metav1.Time) {
	l.started = now
	l.status.Phase = corev1.PodRunning
	l.conditions(now, true, "")
	l.container(corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}})
}

// ended sets the status of a pod whose container has ended.
func (l *life) ended(now metav1.Time, fails bool) {
	t := &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: l.started, FinishedAt: now}
	l.status.Phase = corev1.PodSucceeded
	reason := "PodCompleted"
	if fails {
		l.status.Phase, t.ExitCode, t.Reason, reason = corev1.PodFailed, 1, "Error", "PodFailed"
	}
	l.conditions(now, false, reason)
	l.container(corev1.ContainerState{Terminated: t})
}

// conditions sets the conditions that a kubelet sets. It repeats the scheduler's condition, because a merge patch
// replaces the whole list.
func (l *life) conditions(now metav1.Time, ready bool, reason string) {
	is := corev1.ConditionFalse
	if ready {
		is = corev1.ConditionTrue
	}
	l.status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: *l.status.StartTime},
		{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: *l.status.StartTime},
		{Type: corev1.PodReady, Status: is, Reason: reason, LastTransitionTime: now},
		{Type: corev1.ContainersReady, Status: is, Reason: reason, LastTransitionTime: now},
	}
}

func (l *life) container(state corev1.ContainerState) {
	runs := state.Running != nil
	l.status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: l.pod.Spec.Containers[0].Name, Image: l.pod.Spec.Containers[0].Image, Ready: runs, Started: &runs, State: state,
	}}
}
