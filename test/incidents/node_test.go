package incidents

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/jobledger/jobledger/test/controlplane"
	"github.com/jobledger/jobledger/test/internal/causes"
)

// Short names for the writes of a kubelet about the containers of a pod.
var (
	waits, runs, ends, is = causes.Waits, causes.Runs, causes.Ends, causes.Is
	all                   = causes.All
)

// pool makes the Job's pods run on nodes that take no other pods.
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

// changeNode changes a node as a user.
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

// byHand makes the Job's pods wait for the script, which plays their kubelet. kwok still stops deleted pods.
func byHand() option { return annotate(controlplane.AnnotationOutcome, controlplane.OutcomePending) }

// kubelet writes the status of a pod as the kubelet of its node.
func (s *scene) kubelet(pod *corev1.Pod, change func(*corev1.PodStatus)) {
	s.t.Helper()
	s.must(s.tryKubelet(pod, change))
}

// tryKubelet is kubelet for a pod that may be gone; then it returns an error.
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
		causes.Begin(p)
		change(&p.Status)
		_, err = pods.UpdateStatus(s.ctx, p, metav1.UpdateOptions{FieldManager: "kubelet"})
		return err
	})
}
