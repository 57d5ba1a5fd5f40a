package incidents

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/internal/causes"
)

// podCauses are actions of others on a pod: people, the scheduler, the controllers of nodes, the kubelet.
var podCauses = []*podCause{
	{name: "delete", phases: "pending running last first after", stops: true, did: "tom deleted the pod",
		says: []string{`deleted .*by an API client`}, pod: []string{`by an API client|ENDED BY API client`}, may: "client",
		do: func(s *situation, p *corev1.Pod) { s.deletePod(tom, p.Name, -1) }},
	{name: "delete5", phases: "running", stops: true, did: "tom deleted the pod with a grace period of 5 s",
		says: []string{`deleted .*by an API client`}, pod: []string{`by an API client|ENDED BY API client`}, may: "client",
		do: func(s *situation, p *corev1.Pod) { s.deletePod(tom, p.Name, 5) }},
	{name: "force", phases: "pending running last first deleting after", stops: true, did: "tom deleted the pod by force",
		says: []string{`deleted .*by an API client`, `by force`}, pod: []string{`by an API client|ENDED BY API client`}, may: "client force",
		do: func(s *situation, p *corev1.Pod) { s.deletePod(tom, p.Name, 0) }},
	{name: "evict", phases: "pending running last first deleting after", stops: true, did: "tom evicted the pod",
		says: []string{`evict`}, may: "eviction", do: (*situation).evict},
	{name: "drain", phases: "running last", pool: true, stops: true, did: "tom cordoned the node and evicted the pod",
		says: []string{`evict`}, may: "eviction cordon",
		do: func(s *situation, p *corev1.Pod) {
			s.changeNode(tom, p.Spec.NodeName, func(n *corev1.Node) { n.Spec.Unschedulable = true })
			s.evict(p)
		}},
	{name: "taint", phases: "pending running last first deleting", pool: true, stops: true, did: "tom tainted the node (NoExecute)",
		says: []string{`taint`}, may: "taint", do: (*situation).taint},
	{name: "notready", phases: "running last", pool: true, stops: true, option: []option{bears("node.kubernetes.io/not-ready", 3)},
		did:  "the kubelet said that its node is not ready; the node lifecycle controller tainted it",
		says: []string{`taint|not.?ready`}, may: "taint notready", do: (*situation).notReady},
	{name: "preempt", phases: "running last first", pool: true, stops: true, option: []option{needs("batch-low")},
		did: "the scheduler preempted the pod for one of priority urgent", says: []string{`preempt`}, may: "preemption schedule", // no room for other pods of the Job either
		do: (*situation).preempt},
	{name: "nodegone", phases: "pending running last deleting", pool: true, did: "the node's object was deleted; PodGC deleted the pod",
		says: []string{`node (is |was )?(gone|lost)|no longer exists`}, may: "nodegone nodeaway", do: (*situation).nodeGone},
	{name: "nodeback", phases: "running", pool: true, lives: true, did: "the node's object was deleted, and made again after 3 s; the pod ran on",
		says: []string{`succeeded|COMPLETE`}, pod: []string{`success|ENDED BY itself`}, may: "nodeaway", do: (*situation).nodeBack},
}

// kubeletCauses are causes that a kubelet reports.
var kubeletCauses = []*podCause{
	ofKubelet("pressure", "running last first"),
	ofKubelet("shutdown", "running last first"),
	ofKubelet("storage", "running last"),
	ofKubelet("poddeadline", "running last", podDeadline(600)),
	ofKubelet("oom", "running last first"),
	ofKubelet("killed", "running last"),
	ofKubelet("exit", "running last first"),
	ofKubelet("start", "pending"),
	ofKubelet("unknown", "running"),
	ofKubelet("outofcpu", "pending"),
	ofKubelet("device", "pending"),
	ofKubelet("affinity", "pending"),
}

// ofKubelet returns a cause of the kubelet; its writes are played.
func ofKubelet(name, phases string, options ...option) *podCause {
	c := causes.Named(name)
	return &podCause{
		name: name, phases: phases, option: options, did: c.Did, says: c.Says, may: c.May, exits: c.Exits,
		do: func(s *situation, p *corev1.Pod) { s.writes(c, p) },
	}
}

// writes plays what a kubelet writes about a pod.
func (s *situation) writes(c *causes.Cause, p *corev1.Pod) {
	for _, step := range c.Words {
		s.pass(step.After)
		s.kubelet(p, func(status *corev1.PodStatus) { step.Write(p, status) })
	}
}

// evict calls the eviction API as tom. If the pod is gone, it does nothing.
func (s *situation) evict(p *corev1.Pod) {
	err := s.as(tom).PolicyV1().Evictions(s.name).Evict(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: s.name}})
	if !apierrors.IsNotFound(err) {
		s.must(err)
	}
}

func (s *situation) taint(p *corev1.Pod) {
	s.changeNode(tom, p.Spec.NodeName, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "maintenance", Value: "kernel", Effect: corev1.TaintEffectNoExecute})
	})
	s.node(s.nodeName("c"), s.name, nil)
}

func (s *situation) notReady(p *corev1.Pod) {
	client, err := s.recording.as("system:node:"+p.Spec.NodeName, "kubelet", "system:nodes", "system:masters")
	s.must(err)
	n, err := client.CoreV1().Nodes().Get(s.ctx, p.Spec.NodeName, metav1.GetOptions{})
	s.must(err)
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionFalse, "KubeletNotReady", metav1.Now()
			c.Message = "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
		}
	}
	_, err = client.CoreV1().Nodes().UpdateStatus(s.ctx, n, metav1.UpdateOptions{FieldManager: "kubelet"})
	s.must(err)
}

func (s *situation) nodeGone(p *corev1.Pod) {
	s.must(s.as(janitor).CoreV1().Nodes().Delete(s.ctx, p.Spec.NodeName, metav1.DeleteOptions{}))
}

func (s *situation) nodeBack(p *corev1.Pod) {
	s.nodeGone(p)
	s.pass(3 * time.Second)
	s.node(p.Spec.NodeName, s.name, nil)
}

// preempt creates a pod with a higher priority that needs the node.
func (s *situation) preempt(p *corev1.Pod) {
	j := newJob("hotfix", "fix:1", pool(s.name), needs("urgent"), runsFor("3s"))
	s.must2(s.as(tom).CoreV1().Pods(s.name).Create(s.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "hotfix", Annotations: j.Spec.Template.Annotations}, Spec: j.Spec.Template.Spec,
	}, metav1.CreateOptions{}))
}

func (s *scene) must2(_ any, err error) {
	s.t.Helper()
	s.must(err)
}

// needs makes the Job's pods request a whole processor, with that priority class.
func needs(class string) option {
	return template(func(p *corev1.PodTemplateSpec) {
		p.Spec.PriorityClassName = class
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	})
}

// small returns a change that gives a node room for one such pod, if the cause is preemption; else nil.
func (s *situation) small(c *podCause) func(*corev1.Node) {
	if c.name != "preempt" {
		return nil
	}
	return func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1") }
}

// priorities creates the PriorityClasses of a recording.
func (r *recording) priorities(s *scene) {
	for name, value := range map[string]int32{"batch-low": 10, "urgent": 1000} {
		s.must2(r.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
		}, metav1.CreateOptions{}))
	}
}

// bears makes the Job's pods tolerate a NoExecute taint for some seconds.
func bears(taint string, seconds int64) option {
	return template(func(p *corev1.PodTemplateSpec) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		})
	})
}

func podDeadline(seconds int64) option {
	return template(func(p *corev1.PodTemplateSpec) { p.Spec.ActiveDeadlineSeconds = &seconds })
}
