package incidents

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/jobledger/jobledger/test/controlplane"
)

// pool makes the Job's pods run in a pool of nodes that take no others.
func pool(name string) option {
	return template(func(p *corev1.PodTemplateSpec) {
		p.Spec.NodeSelector = map[string]string{"pool": name}
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: "pool", Value: name, Effect: corev1.TaintEffectNoSchedule})
	})
}

// node adds a node to a pool.
func (s *scene) node(name, pool string, change func(*corev1.Node)) {
	s.t.Helper()
	s.must(s.cp.AddNode(s.ctx, name, func(n *corev1.Node) {
		n.Labels["pool"] = pool
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "pool", Value: pool, Effect: corev1.TaintEffectNoSchedule})
		if change != nil {
			change(n)
		}
	}))
}

// changeNode changes a node as somebody.
func (s *scene) changeNode(user, name string, change func(*corev1.Node)) {
	s.t.Helper()
	nodes := s.as(user).CoreV1().Nodes()
	s.must(retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		n, err := nodes.Get(s.ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		change(n)
		_, err = nodes.Update(s.ctx, n, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
		return err
	}))
}

// byHand makes the Job's pods wait for what the script writes as their kubelet. kwok still stops those that are deleted.
func byHand() option { return annotate(controlplane.AnnotationOutcome, controlplane.OutcomePending) }

// kubelet writes the status of a pod as the kubelet of its node.
func (s *scene) kubelet(pod *corev1.Pod, change func(*corev1.PodStatus)) {
	s.t.Helper()
	s.must(s.tryKubelet(pod, change))
}

// tryKubelet is kubelet for a pod that may be gone: that is the error.
func (s *scene) tryKubelet(pod *corev1.Pod, change func(*corev1.PodStatus)) error {
	s.t.Helper()
	client, err := s.recording.as("system:node:"+pod.Spec.NodeName, "kubelet", "system:nodes", "system:masters")
	s.must(err)
	pods := client.CoreV1().Pods(s.name)
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		p, err := pods.Get(s.ctx, pod.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if p.Status.StartTime == nil {
			p.Status.StartTime = new(metav1.Now())
		}
		for _, c := range p.Spec.Containers[len(p.Status.ContainerStatuses):] {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, Started: new(false),
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
			})
		}
		change(&p.Status)
		_, err = pods.UpdateStatus(s.ctx, p, metav1.UpdateOptions{FieldManager: "kubelet"})
		return err
	})
}

// What a kubelet writes about the containers of a pod.

// waits: a container cannot start, or not again.
func waits(container int, reason, message string) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		c := &p.ContainerStatuses[container]
		if ended := c.State.Terminated; ended != nil {
			c.LastTerminationState = corev1.ContainerState{Terminated: ended}
		}
		c.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
		setReady(p, false)
	}
}

// runs: a container has started, the first time or again.
func runs(container int) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) {
		c := &p.ContainerStatuses[container]
		if c.LastTerminationState.Terminated != nil {
			c.RestartCount++
		}
		p.Phase, c.Ready, c.Started = corev1.PodRunning, true, new(true)
		c.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Now()}}
		setReady(p, true)
	}
}

// ends: a container has ended.
func ends(container int, code int32, reason, message string) func(*corev1.PodStatus) {
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

// is: the pod as a whole has come to a phase.
func is(phase corev1.PodPhase) func(*corev1.PodStatus) {
	return func(p *corev1.PodStatus) { p.Phase = phase }
}

// all is several of these at once.
func all(changes ...func(*corev1.PodStatus)) func(*corev1.PodStatus) {
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
