package causes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Begin sets the first status that a kubelet gives a pod, which says that its containers are being created.
func Begin(p *corev1.Pod) {
	if p.Status.StartTime == nil {
		p.Status.StartTime = new(metav1.Now())
	}
	for _, c := range p.Spec.Containers[len(p.Status.ContainerStatuses):] {
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Started: new(false),
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		})
	}
}

// Played returns the pod's states, one a line, if the generator simulates the kubelet for this cause.
func (c *Cause) Played() []string {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "etl-x7k2p", Namespace: "team-001", UID: "7d9b6d7e-0c5d-4d0a-9f0e-2f6f3a1b8c11"},
		Spec:       corev1.PodSpec{NodeName: "node-0", Containers: []corev1.Container{{Name: "main"}}},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
	var versions []*corev1.Pod
	wrote := func() { versions = append(versions, p.DeepCopy()) }
	wrote() // the first version is the pod as the scheduler has left it
	if c.Runs {
		Begin(p)
		Runs(0)(&p.Status)
		wrote()
	}
	for _, step := range c.Words {
		Begin(p)
		step.Write(p, &p.Status)
		wrote()
	}
	return Series(versions)
}
