package incidents

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podCauses are what others do to a pod: people, the scheduler, the controllers of nodes, the kubelet.
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
		did: "the scheduler preempted the pod for one of priority urgent", says: []string{`preempt`}, may: "preemption schedule", // other pods of the Job have no room either
		do: (*situation).preempt},
	{name: "nodegone", phases: "pending running last deleting", pool: true, did: "the node's object was deleted; PodGC deleted the pod",
		says: []string{`node (is |was )?(gone|lost)|no longer exists`}, may: "nodegone nodeaway", do: (*situation).nodeGone},
	{name: "nodeback", phases: "running", pool: true, lives: true, did: "the node's object was deleted, and made again after 3 s; the pod ran on",
		says: []string{`succeeded|COMPLETE`}, pod: []string{`success|ENDED BY itself`}, may: "nodeaway", do: (*situation).nodeBack},
}

// kubeletCauses are what a kubelet says of a pod. Its words are those of Kubernetes 1.36.
var kubeletCauses = []*podCause{
	{name: "pressure", phases: "running last first", did: "the kubelet evicted the pod: its node was low on memory", exits: []int32{137},
		says: []string{`low on resource: memory|evicted by (its|the) (node|kubelet)`}, may: "eviction pressure", do: kubeletEnds("Evicted",
			"The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. Container main was using 612Mi, request is 0, has larger consumption of memory. ",
			true, 137, "Error", "")},
	{name: "shutdown", phases: "running last first", did: "the kubelet ended the pod: its node shut down", exits: []int32{143},
		says: []string{`shutdown`}, may: "shutdown", do: kubeletEnds("Terminated",
			"Pod was terminated in response to imminent node shutdown.", true, 143, "Error", "")},
	{name: "storage", phases: "running last", did: "the kubelet evicted the pod: it had used more ephemeral storage than its limit", exits: []int32{137},
		says: []string{`ephemeral`}, may: "eviction storage", do: kubeletEnds("Evicted",
			"Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ", false, 137, "Error", "")},
	{name: "poddeadline", phases: "running last", option: []option{podDeadline(600)}, exits: []int32{143},
		did:  "the pod's own activeDeadlineSeconds passed (played)",
		says: []string{`own activeDeadlineSeconds|Pod was active on the node|pod's deadline`}, may: "deadline", do: kubeletEnds("DeadlineExceeded",
			"Pod was active on the node longer than the specified deadline", false, 143, "Error", "")},
	{name: "oom", phases: "running last first", did: "container main was OOMKilled", exits: []int32{137},
		says: []string{`OOMKilled`, `137`}, may: "oom", do: kubeletEnds("", "", false, 137, "OOMKilled", "")},
	{name: "killed", phases: "running last", did: "container main was killed (137), not by the OOM killer", exits: []int32{137},
		says: []string{`exit(ed)? 137`}, do: kubeletEnds("", "", false, 137, "Error", "")},
	{name: "exit", phases: "running last first", did: "container main exited 42, with a termination message", exits: []int32{42},
		says: []string{`exit(ed)? 42`}, do: kubeletEnds("", "", false, 42, "Error", "db: connection refused by 10.0.0.7:5432\n")},
	{name: "start", phases: "pending", did: "container main could not be started: its command does not exist", exits: []int32{128},
		says: []string{`StartError|128`}, do: kubeletEnds("", "", false, 128, "StartError",
			`failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: exec: "/app/run": stat /app/run: no such file or directory`)},
	{name: "unknown", phases: "running", did: "the container was gone when the kubelet came back", exits: []int32{137},
		says: []string{`ContainerStatusUnknown|137`}, do: kubeletEnds("", "", false, 137, "ContainerStatusUnknown",
			"The container could not be located when the pod was terminated")},
	{name: "outofcpu", phases: "pending", did: "the kubelet rejected the pod: not enough cpu",
		says: []string{`OutOfcpu|enough resource`}, may: "rejected", do: kubeletRejects("OutOfcpu",
			"Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 3800, capacity: 4000")},
	{name: "device", phases: "pending", did: "the kubelet rejected the pod: no device",
		says: []string{`UnexpectedAdmissionError|Allocate failed`}, may: "rejected", do: kubeletRejects("UnexpectedAdmissionError",
			"Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected")},
	{name: "affinity", phases: "pending", did: "the kubelet rejected the pod: the labels of its node had changed",
		says: []string{`NodeAffinity`}, may: "rejected", do: kubeletRejects("NodeAffinity",
			"Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector")},
}

// evict asks the eviction API as tom. Of a pod that is gone there is nothing to evict.
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

// preempt makes a pod that is worth more and needs the place.
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

// needs is a Job whose pods want a whole processor.
func needs(class string) option {
	return template(func(p *corev1.PodTemplateSpec) {
		p.Spec.PriorityClassName = class
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	})
}

// small makes a node that has room for one pod that wants a processor, if it is about that.
func (s *situation) small(c *podCause) func(*corev1.Node) {
	if c.name != "preempt" {
		return nil
	}
	return func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1") }
}

// priorities makes the PriorityClasses of a recording.
func (r *recording) priorities(s *scene) {
	for name, value := range map[string]int32{"batch-low": 10, "urgent": 1000} {
		s.must2(r.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
		}, metav1.CreateOptions{}))
	}
}

// bears is a Job whose pods bear a taint that drives out, for some seconds.
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

// kubeletEnds is a pod that its kubelet ends, with a reason and a message of the pod and of its container.
func kubeletEnds(reason, message string, disrupts bool, code int32, why, says string) func(*situation, *corev1.Pod) {
	return func(s *situation, p *corev1.Pod) {
		s.kubelet(p, all(ends(0, code, why, says), is(corev1.PodFailed), func(st *corev1.PodStatus) {
			st.Reason, st.Message = reason, message
			if disrupts {
				st.Conditions = append(st.Conditions, corev1.PodCondition{
					Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonTerminationByKubelet,
					Message: message, LastTransitionTime: metav1.Now(),
				})
			}
		}))
	}
}

// kubeletRejects is a pod that its kubelet does not admit: no container of it is ever made.
func kubeletRejects(reason, message string) func(*situation, *corev1.Pod) {
	return func(s *situation, p *corev1.Pod) {
		s.kubelet(p, func(st *corev1.PodStatus) {
			*st = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: message, StartTime: st.StartTime, QOSClass: st.QOSClass}
		})
	}
}
