package incidents

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// 5: a node is drained, pod by pod, and is lost before all pods have left.
func evictedThenNodeLost(s *scene) {
	s.node("node-7", "train", nil)
	s.node("node-8", "train", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	t := s.create(maria, newJob("train", "train:2", indexed(3, 3), runsOn(), stopsAfter("1s"), pool("train"), limit(3)))
	t.want = "Complete CompletionsReached, 3 deleted"
	t.Cause = "tom evicted the pod of index 0, then node-7 was gone with the two others; no program failed"
	t.Says = []string{"evict", "node-7"}
	v := s.await(t, "3 pods run", func(v view) bool { return len(v.running()) == 3 })
	first := v.index("0")
	t.FirstPod = first.Name
	s.pass(3 * time.Second)
	s.changeNode(tom, "node-8", func(n *corev1.Node) { n.Spec.Unschedulable = false })
	s.changeNode(tom, "node-7", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	s.must(s.as(tom).PolicyV1().Evictions(s.name).Evict(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: first.Name, Namespace: s.name}}))
	s.await(t, "the evicted pod has ended", func(v view) bool { return len(v.running()) == 2 })
	s.pass(2 * time.Second)
	s.must(s.as(janitor).CoreV1().Nodes().Delete(s.ctx, "node-7", metav1.DeleteOptions{}))
	t.Note = "the node was deleted by a client in the place of a cloud's node controller; PodGC did the rest"
	t.Played = "the ends of the three last pods"
	v = s.await(t, "3 pods run on node-8", func(v view) bool {
		return len(v.running()) == 3 && !slices.ContainsFunc(v.running(), func(p *corev1.Pod) bool { return p.Spec.NodeName != "node-8" })
	})
	s.pass(4 * time.Second)
	for _, p := range v.running() {
		s.kubelet(p, all(ends(0, 0, "Completed", ""), is(corev1.PodSucceeded)))
	}
	s.awaitEnd(t)
}

// 16: a more important pod needs the node.
func preempted(s *scene) {
	s.node("node-5", "small", func(n *corev1.Node) { n.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1") })
	for name, value := range map[string]int32{"batch-low": 10, "urgent": 1000} {
		_, err := s.admin.SchedulingV1().PriorityClasses().Create(s.ctx, &schedulingv1.PriorityClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value,
		}, metav1.CreateOptions{})
		s.must(err)
	}
	needs := func(class string) option {
		return template(func(p *corev1.PodTemplateSpec) {
			p.Spec.PriorityClassName = class
			p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		})
	}
	t := s.create(maria, newJob("backfill", "fill:1", pool("small"), needs("batch-low"), runsFor("8s"), stopsAfter("1s")))
	t.want = "Complete CompletionsReached, 1 deleted"
	t.Cause = "the scheduler preempted its pod for one of priority urgent; it was made again"
	t.Says = []string{"preempt"}
	t.FirstPod = s.awaitRunning(t, 1)[0].Name
	s.pass(3 * time.Second)
	other := s.create(tom, newJob("hotfix", "fix:1", pool("small"), needs("urgent"), runsFor("4s")))
	other.want = "Complete CompletionsReached, 0 deleted"
	other.Cause = "nothing: it is the one for which the pod of backfill was preempted"
	other.Says = []string{"COMPLETE"}
	s.awaitEnd(other)
	s.awaitEnd(t)
}

// 17: a taint drives out pods that do not tolerate it.
func tainted(s *scene) {
	s.node("node-3", "edge", nil)
	t := s.create(maria, newJob("geo-tiles", "tiles:6", size(2, 2), pool("edge"), runsFor("10s"), stopsAfter("1s")))
	t.want = "Complete CompletionsReached, 2 deleted"
	t.Cause = "tom tainted node-3 with maintenance=kernel:NoExecute; both pods were deleted by the taint manager, and made again on node-4"
	t.Says = []string{"taint", "node-3"}
	t.FirstPod = s.awaitRunning(t, 2)[0].Name
	s.pass(3 * time.Second)
	s.node("node-4", "edge", nil)
	s.changeNode(tom, "node-3", func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "maintenance", Value: "kernel", Effect: corev1.TaintEffectNoExecute})
	})
	s.awaitEnd(t)
}

// 18: more indexes fail than maxFailedIndexes allows.
func maxFailedIndexes(s *scene) {
	t := s.create(maria, newJob("matrix", "matrix:3", indexed(6, 6), runsOn(), stopsAfter("1s"), indexesFail("0,2", "5"), spec(func(j *batchv1.JobSpec) {
		j.BackoffLimitPerIndex, j.MaxFailedIndexes = new(int32(0)), new(int32(1))
	})))
	t.want = "Failed MaxFailedIndexesExceeded, 4 deleted"
	t.Cause = "container main of the indexes 0 and 2 exits 5; 2 failed indexes are more than maxFailedIndexes (1)"
	t.Says = []string{"maxFailedIndexes", "exit 5"}
	s.awaitEnd(t)
}

// 19: the leader's success is enough.
func successPolicy(s *scene) {
	t := s.create(maria, newJob("solver", "solver:4", indexed(4, 4), runsOn(), stopsAfter("1s"), spec(func(j *batchv1.JobSpec) {
		j.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("0")}}}
	})))
	t.want = "Complete SuccessPolicy, 3 deleted"
	t.Cause = "index 0 succeeded, which is all that successPolicy asks for; the pods of the indexes 1 to 3 were stopped"
	t.Says = []string{"successPolicy"}
	t.Played = "the end of the pod of index 0"
	v := s.await(t, "4 pods run", func(v view) bool { return len(v.running()) == 4 })
	t.FirstPod = v.index("0").Name
	s.pass(4 * time.Second)
	s.kubelet(v.index("0"), all(ends(0, 0, "Completed", ""), is(corev1.PodSucceeded)))
	s.awaitEnd(t)
}
