package incidents

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// 1: a program that always fails.
func backoffLimit(s *scene) {
	t := s.create(maria, newJob("etl-orders", "etl:1.9.0", fails("3"), limit(2)))
	t.want = "Failed BackoffLimitExceeded, 0 deleted"
	t.Cause = "container main exits 3 in each of 3 tries; backoffLimit is 2"
	t.Says = []string{"exit 3", "backoffLimit"}
	s.awaitEnd(t)
}

// 2: an exit code that means: do not retry.
func failurePolicy(s *scene) {
	t := s.create(maria, newJob("schema-migrate", "migrate:7", indexed(3, 3), runsOn(), indexesFail("1", "42"), spec(func(j *batchv1.JobSpec) {
		j.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{
				Action:          batchv1.PodFailurePolicyActionIgnore,
				OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
			},
			{
				Action: batchv1.PodFailurePolicyActionFailJob,
				OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
					Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{42},
				},
			},
		}}
	})))
	t.want = "Failed PodFailurePolicy, 2 deleted"
	t.Cause = "container main of index 1 exits 42; rule 1 of podFailurePolicy (the second; they count from 0) says FailJob"
	t.Says = []string{"exit 42", "index 1", "podFailurePolicy"}
	v := s.await(t, "index 1 runs", func(v view) bool { return v.index("1") != nil })
	t.FirstPod = v.index("1").Name
	s.awaitEnd(t)
}

// 3: two pods exceed the deadline, and take some seconds to stop.
func activeDeadline(s *scene) {
	t := s.create(maria, newJob("report-daily", "report:4", size(2, 2), runsOn(), stopsAfter("3s"), deadline(8)))
	t.want = "Failed DeadlineExceeded, 2 deleted"
	t.Cause = "activeDeadlineSeconds (8) passed while both pods ran; they took 3 s to stop"
	t.Says = []string{"activeDeadlineSeconds", "8"}
	s.awaitEnd(t)
}

// 11: most indexes succeed.
func badIndexes(s *scene) {
	t := s.create(maria, newJob("shards", "shards:2", indexed(10, 10), runsFor("1s"), indexesFail("3,7", "17"), spec(func(j *batchv1.JobSpec) {
		j.BackoffLimitPerIndex = new(int32(1))
	})))
	t.want = "Failed FailedIndexes, 0 deleted"
	t.Cause = "container main of the indexes 3 and 7 exits 17, twice each; backoffLimitPerIndex is 1; the other 8 of 10 are done"
	t.Says = []string{"3,7", "exit 17"}
	s.awaitEnd(t)
}

// 14: a container uses more memory than its limit.
func oomKilled(s *scene) {
	t := s.create(maria, newJob("oom", "indexer:12", byHand(), limit(0)))
	t.want = "Failed BackoffLimitExceeded, 0 deleted"
	t.Cause = "container main was OOMKilled (137); backoffLimit is 0"
	t.Says = []string{"OOMKilled", "137"}
	t.Played = "the kubelet"
	p := s.awaitPlaced(t)
	s.kubelet(p, runs(0))
	s.pass(4 * time.Second)
	s.kubelet(p, all(ends(0, 137, "OOMKilled", "heap of 4.1 GiB"), is(corev1.PodFailed)))
	s.awaitEnd(t)
}

// 15: the kubelet restarts it again and again, with growing waits.
func crashLoop(s *scene) {
	t := s.create(maria, newJob("crashloop", "crash:1", byHand(), limit(3), template(func(p *corev1.PodTemplateSpec) {
		p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	})))
	t.want = "Failed BackoffLimitExceeded, 1 deleted"
	t.Cause = "container main exits 3 again and again; 3 restarts are as many as backoffLimit (3) allows, and the pod is stopped"
	t.Says = []string{"exit 3", "restart", "backoffLimit"}
	t.Played = "the kubelet, whose waits of 10 s, 20 s, 40 s are 1 s here"
	p := s.awaitPlaced(t)
	s.kubelet(p, runs(0))
	for range 3 {
		s.pass(time.Second)
		s.kubelet(p, ends(0, 3, "Error", "config: no such key"))
		s.pass(200 * time.Millisecond)
		s.kubelet(p, waits(0, "CrashLoopBackOff", "back-off 10s restarting failed container=main"))
		s.pass(time.Second)
		s.kubelet(p, runs(0))
	}
	s.awaitEnd(t)
}

// awaitPlaced waits until the Job's only live pod has a node.
func (s *scene) awaitPlaced(t *truth) *corev1.Pod {
	s.t.Helper()
	return s.await(t, "its pod has a node", func(v view) bool {
		return len(v.live()) == 1 && v.live()[0].Spec.NodeName != ""
	}).live()[0]
}
