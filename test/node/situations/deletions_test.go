//go:build linux

package situations

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const byClient = `deleted .*by an API client`

var podByClient = []string{`by an API client|ENDED BY API client`}

// deletions are pods that a user or a component ends.
var deletions = []row{
	{name: "delete", did: "tom deleted the pod", says: []string{byClient}, pod: podByClient, may: "client", exits: []int32{143}, stage: deleted(-1)},
	{name: "deletekill", did: "tom deleted the pod; the program ignored SIGTERM until its grace ended", says: []string{byClient}, pod: podByClient, may: "client", exits: []int32{137},
		job: []option{grace(3), runs(impolite)}, stage: deleted(-1)},
	{name: "delete1", did: "tom deleted the pod with a grace of 1 s; the program ignored SIGTERM", says: []string{byClient}, pod: podByClient, may: "client", exits: []int32{137},
		job: []option{grace(30), runs(impolite)}, stage: deleted(1)},
	{name: "deletezero", did: "tom deleted the pod; the program ended with 0 behind SIGTERM, and counts as deleted or as succeeded", says: []string{byClient + `|succeeded`}, pod: []string{`API client|succe`}, may: "client",
		job: []option{runs(`trap "exit 0" TERM; sleep 1000 & wait`)}, stage: deleted(-1)},
	{name: "force", did: "tom deleted the pod by force", says: []string{byClient, `by force`}, pod: podByClient, may: "client force", exits: []int32{137}, job: []option{runs(impolite)}, stage: deleted(0)},
	{name: "deleteforce", did: "tom deleted the pod, and then by force", says: []string{byClient}, pod: podByClient, may: "client force", exits: []int32{137},
		job: []option{grace(60), runs(impolite)}, stage: func(s *situation) {
			s.awaitRunning()
			s.pass(2 * second)
			s.deletePod(-1)
			s.pass(3 * second)
			s.deletePod(0)
			s.awaitEnd()
		}},
	{name: "pendingdelete", did: "tom deleted the pod while its image could not be pulled", says: []string{byClient}, pod: podByClient, may: "client pull", job: []option{image("registry.corp/etl:1.9.0")},
		stage: func(s *situation) {
			s.awaitWaiting("ErrImagePull")
			s.deletePod(-1)
			s.awaitEnd()
		}},
	{name: "prestop", did: "tom deleted the pod; its hook preStop failed", says: []string{byClient}, pod: podByClient, may: "client", exits: []int32{143},
		job: []option{grace(8), container(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "exit 7"}}}}
		})}, stage: deleted(-1)},
	{name: "prestopslow", did: "tom deleted the pod; its hook preStop took longer than the grace", says: []string{byClient}, pod: podByClient, may: "client", exits: []int32{137, 143},
		job: []option{grace(3), container(func(c *corev1.Container) {
			c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sleep", "60"}}}}
		})}, stage: deleted(-1)},
	{name: "evict", did: "tom evicted the pod", says: []string{`evict`}, may: "eviction", exits: []int32{143}, stage: evicted},
	{name: "evictignore", did: "tom evicted the pod; podFailurePolicy ignores disruptions, and the next one runs", says: []string{`evict|run`}, pod: []string{`evict`}, may: "eviction", exits: []int32{143},
		job: []option{rules(batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}})},
		stage: func(s *situation) {
			s.evict()
			s.await("another pod runs", func(v view) bool {
				for _, p := range v.pods {
					if string(p.UID) != s.told.PodUID && p.Status.Phase == corev1.PodRunning {
						return true
					}
				}
				return false
			})
		}},
	{name: "preempt", did: "the scheduler preempted the pod for one of priority urgent", says: []string{`preempt`}, may: "preemption schedule", exits: []int32{143},
		job: []option{requests(corev1.ResourceCPU, "1100m"), pod(func(p *corev1.PodSpec) { p.PriorityClassName = "batch-low" })}, stage: (*situation).preempt},
	{name: "suspend", did: "tom suspended the running Job", says: []string{`suspended`}, may: "suspended edit scale", exits: []int32{143}, stage: func(s *situation) {
		s.awaitRunning()
		s.pass(2 * second)
		_, err := s.as(tom).BatchV1().Jobs(s.name).Patch(s.ctx, s.job.Name, types.MergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{FieldManager: "kubectl-patch"})
		s.must(err)
		s.await("its pod is gone", func(v view) bool { return len(v.pods) == 0 })
	}},
	{name: "jobdelete", did: "tom deleted the Job while its pod ran", says: []string{`by an API client`}, pod: []string{`Job was deleted|Job's deletion`}, may: "client", exits: []int32{143}, stage: func(s *situation) {
		s.awaitRunning()
		s.pass(2 * second)
		how := metav1.DeletePropagationForeground
		s.must(s.as(tom).BatchV1().Jobs(s.name).Delete(s.ctx, s.job.Name, metav1.DeleteOptions{PropagationPolicy: &how}))
		s.eventually("the Job is gone", func() bool {
			_, err := s.admin.BatchV1().Jobs(s.name).Get(s.ctx, s.job.Name, metav1.GetOptions{})
			return gone(err)
		})
	}},
}

// deleted: tom deletes the running pod. A negative grace means the pod's own grace period.
func deleted(grace int64) func(*situation) {
	return func(s *situation) {
		s.awaitRunning()
		s.pass(2 * second)
		s.deletePod(grace)
		s.awaitEnd()
	}
}

func (s *situation) deletePod(grace int64) {
	s.t.Helper()
	options := metav1.DeleteOptions{}
	if grace >= 0 {
		options.GracePeriodSeconds = &grace
	}
	s.must(s.as(tom).CoreV1().Pods(s.name).Delete(s.ctx, s.told.Pod, options))
}

func evicted(s *situation) {
	s.evict()
	s.awaitEnd()
}

func (s *situation) evict() {
	s.t.Helper()
	s.awaitRunning()
	s.pass(2 * second)
	s.must(s.as(tom).PolicyV1().Evictions(s.name).Evict(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: s.told.Pod, Namespace: s.name}}))
}

// preempt creates a pod with a higher priority that needs the node.
func (s *situation) preempt() {
	s.awaitRunning()
	s.pass(2 * second)
	spec := newJob(runs("sleep 2"), requests(corev1.ResourceCPU, "1100m"), pod(func(p *corev1.PodSpec) { p.PriorityClassName = "urgent" })).Spec.Template.Spec
	_, err := s.as(tom).CoreV1().Pods(s.name).Create(s.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "hotfix"}, Spec: spec}, metav1.CreateOptions{})
	s.must(err)
	s.awaitEnd()
}
