package incidents

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jobCause is an action on a Job as a whole, or a decision about it.
type jobCause struct {
	name, shape, phase string
	options            []option
	did                string
	says               []string
	may                string
	stage              func(*situation)
}

// start waits for n pods with a node and makes them run; the first has the lowest index.
func (s *situation) start(n int) (all []*corev1.Pod) {
	s.t.Helper()
	s.await(s.truth, fmt.Sprintf("%d pods have a node", n), func(v view) bool {
		all = slices.DeleteFunc(v.live(), func(p *corev1.Pod) bool { return p.Spec.NodeName == "" || s.played[p.UID] })
		return len(all) >= n
	})
	index := func(p *corev1.Pod) string { return p.Annotations[batchv1.JobCompletionIndexAnnotation] }
	slices.SortStableFunc(all, func(a, b *corev1.Pod) int { return strings.Compare(index(a), index(b)) })
	all = all[:n]
	for _, p := range all {
		s.played[p.UID] = true
		s.kubelet(p, runs(0))
	}
	s.pass(2 * time.Second)
	return all
}

// again lets the script play pods that it had left running.
func (s *situation) again() { s.played = map[uid]bool{} }

func (s *situation) stopped() { s.told.Exits = append(s.told.Exits, 143) }

var jobCauses = []jobCause{
	{name: "suspend", shape: "limit3", phase: "running", did: "tom suspended the running Job, and resumed it", says: []string{`suspend`}, may: "suspended edit scale",
		stage: suspendedBy(tom, "kubectl-patch", true)},
	{name: "suspend", shape: "limit3", phase: "stays", did: "tom suspended the running Job", says: []string{`suspended`}, may: "suspended edit scale",
		stage: suspendedBy(tom, "kubectl-patch", false)},
	{name: "suspend", shape: "queue", phase: "running", did: "Kueue suspended the running Job, and resumed it", says: []string{`suspend`}, may: "suspended edit scale",
		stage: suspendedBy(queue, "kueue-job-controller", true)},
	{name: "suspend", shape: "argo", phase: "stays", did: "Argo CD suspended the running Job", says: []string{`suspended`}, may: "suspended edit scale",
		stage: suspendedBy(argo, "argocd-controller", false)},
	{name: "deadline", shape: "limit3", phase: "running", options: []option{limit(3), deadline(5)}, did: "activeDeadlineSeconds (5) passed while the pod ran",
		says: []string{`activeDeadlineSeconds`}, may: "deadline", stage: func(s *situation) { s.start(1); s.stopped(); s.awaitEnd(s.truth) }},
	{name: "deadline", shape: "limit3", phase: "pending", options: []option{limit(3), deadline(5)}, did: "activeDeadlineSeconds (5) passed before the pod started",
		says: []string{`activeDeadlineSeconds`}, may: "deadline", stage: func(s *situation) { s.next(); s.awaitEnd(s.truth) }},
	{name: "deadline", shape: "backoff", phase: "between", options: []option{limit(3), deadline(6)}, did: "the first try exited 3; activeDeadlineSeconds (6) passed during the backoff",
		says: []string{`activeDeadlineSeconds`, `exit(ed)? 3`}, may: "deadline", stage: func(s *situation) { s.fail(s.next(), 3); s.awaitEnd(s.truth) }},
	{name: "deadline", shape: "indexed", phase: "running", options: []option{indexed(3, 3), deadline(12)}, did: "index 0 succeeded; activeDeadlineSeconds (12) passed while the others ran",
		says: []string{`activeDeadlineSeconds`}, may: "deadline", stage: func(s *situation) { s.succeed(s.start(3)[0]); s.stopped(); s.awaitEnd(s.truth) }},
	{name: "scale", shape: "parallel", phase: "down", options: []option{size(6, 3)}, did: "keda set parallelism to 1 while 3 pods ran", says: []string{`parallelism`}, may: "scale edit",
		stage: scaledTo(autoscaler, "keda", `{"spec":{"parallelism":1}}`, true)},
	{name: "scale", shape: "parallel", phase: "zero", options: []option{size(6, 3)}, did: "tom set parallelism to 0 while 3 pods ran", says: []string{`parallelism`}, may: "scale edit",
		stage: scaledTo(tom, "kubectl-scale", `{"spec":{"parallelism":0}}`, false)},
	{name: "scale", shape: "elastic", phase: "down", options: []option{indexed(3, 3)}, did: "keda set completions and parallelism of the indexed Job to 2",
		says: []string{`completions|parallelism`}, may: "scale edit", stage: scaledTo(autoscaler, "keda", `{"spec":{"parallelism":2,"completions":2}}`, true)},
	{name: "deadlineedit", shape: "limit3", phase: "running", options: []option{limit(3), deadline(3600)}, did: "tom set activeDeadlineSeconds to 4 while the pod ran; it passed",
		says: []string{`activeDeadlineSeconds`}, may: "deadline edit", stage: func(s *situation) {
			s.start(1)
			s.stopped()
			s.patch(tom, "kubectl-edit", s.truth, "spec.activeDeadlineSeconds 3600 -> 4", `{"spec":{"activeDeadlineSeconds":4}}`)
			s.awaitEnd(s.truth)
		}},
	{name: "jobdeleted", shape: "background", phase: "running", did: "tom deleted the Job in the background while its pod ran", says: []string{`deleted .*by an API client`},
		may: "client", stage: deletedAs(metav1.DeletePropagationBackground)},
	{name: "jobdeleted", shape: "foreground", phase: "running", did: "tom deleted the Job in the foreground while its pod ran", says: []string{`by an API client`},
		may: "client", stage: deletedAs(metav1.DeletePropagationForeground)},
	{name: "jobdeleted", shape: "orphan", phase: "running", did: "tom deleted the Job and left its pod while it ran", says: []string{`by an API client`},
		may: "client", stage: deletedAs(metav1.DeletePropagationOrphan)},
	{name: "jobdeleted", shape: "background", phase: "after", options: []option{limit(0)}, did: "the Job failed (exit 3); tom deleted it", says: []string{`by an API client`, `exit(ed)? 3`},
		may: "client", stage: func(s *situation) {
			s.fail(s.next(), 3)
			s.awaitEnd(s.truth)
			s.pass(2 * time.Second)
			s.deleteJob(tom, s.truth.Job, metav1.DeletePropagationBackground)
			s.awaitGone(s.truth)
		}},
	{name: "namespace", shape: "parallel", phase: "running", options: []option{size(2, 2)}, did: "tom deleted the namespace while both pods ran", says: []string{`namespace`},
		may: "namespace client", stage: func(s *situation) {
			s.start(2)
			s.stopped()
			s.must(s.as(tom).CoreV1().Namespaces().Delete(s.ctx, s.name, metav1.DeleteOptions{}))
			s.awaitGone(s.truth)
		}},
	{name: "ttl", shape: "failed", phase: "after", options: []option{limit(0), expires(3)}, did: "the Job failed (exit 3), and its TTL of 3 s passed", says: []string{`ttlSecondsAfterFinished|TTL`, `exit(ed)? 3`},
		may: "ttl", stage: func(s *situation) { s.fail(s.next(), 3); s.awaitEnd(s.truth); s.awaitGone(s.truth) }},
	{name: "ttl", shape: "complete", phase: "after", options: []option{limit(0), expires(3)}, did: "the Job succeeded, and its TTL of 3 s passed", says: []string{`ttlSecondsAfterFinished|TTL`, `succeeded`},
		may: "ttl", stage: func(s *situation) { s.succeed(s.next()); s.awaitEnd(s.truth); s.awaitGone(s.truth) }},
	{name: "codes", shape: "limit2", phase: "last", options: []option{limit(2)}, did: "the tries exited 3, 4 and 5", says: []string{`exit(ed)? 3`, `\b4\b`, `\b5\b`},
		stage: func(s *situation) {
			for _, code := range []int32{3, 4, 5} {
				s.fail(s.next(), code)
			}
			s.awaitEnd(s.truth)
		}},
	{name: "failjob", shape: "parallel", phase: "running", options: []option{size(2, 2), limit(6), rules(onCodes(batchv1.PodFailurePolicyActionFailJob, 3))},
		did: "a try exited 42, by which podFailurePolicy fails the Job; the other pod was stopped", says: []string{`exit(ed)? 42`, `podFailurePolicy`}, stage: func(s *situation) {
			all := s.start(2)
			s.exit(all[0], 42)
			s.stopped()
			s.awaitEnd(s.truth)
		}},
	{name: "maxfailed", shape: "indexed", phase: "running", options: []option{indexed(4, 4), perIndex(0), spec(func(s *batchv1.JobSpec) { s.MaxFailedIndexes = new(int32(1)) })},
		did: "two indexes failed (exit 3), and maxFailedIndexes is 1; the other pods were stopped", says: []string{`maxFailedIndexes`, `exit(ed)? 3`}, stage: func(s *situation) {
			all := s.start(4)
			s.exit(all[0], 3)
			s.exit(all[1], 3)
			s.stopped()
			s.awaitEnd(s.truth)
		}},
	{name: "failedindex", shape: "perindex", phase: "last", options: []option{indexed(3, 3), perIndex(1)}, did: "index 0 failed twice (exit 3); the others succeeded", says: []string{`index(es)? 0`, `exit(ed)? 3`},
		stage: func(s *situation) {
			all := s.start(3)
			s.exit(all[0], 3)
			s.succeed(all[1])
			s.succeed(all[2])
			s.fail(s.next(), 3)
			s.awaitEnd(s.truth)
		}},
	{name: "leader", shape: "success", phase: "running", options: []option{indexed(3, 3), succeedsWith("0")}, did: "index 0 succeeded: successPolicy asks for no more, and the others were stopped",
		says: []string{`successPolicy`}, stage: func(s *situation) {
			all := s.start(3)
			s.stopped()
			s.kubelet(all[0], ends(0, 0, "Completed", ""))
			s.kubelet(all[0], is(corev1.PodSucceeded))
			s.awaitEnd(s.truth)
		}},
	{name: "held", shape: "foreground", phase: "running", did: "tom deleted the Job in the foreground; a storage controller's finalizer holds its pod", says: []string{`storage.corp/detach`},
		may: "client", stage: func(s *situation) {
			p := s.start(1)[0]
			s.stopped()
			s.finalizers(p, `["storage.corp/detach"]`)
			s.deleteJob(tom, s.truth.Job, metav1.DeletePropagationForeground)
			s.pass(8 * time.Second)
			s.over()
			s.finalizers(p, `[]`)
			s.awaitGone(s.truth)
		}},
	{name: "two", shape: "limit1", phase: "last", options: []option{limit(1)}, did: "the first try was evicted, the second OOMKilled", says: []string{`evict`, `OOMKilled`}, may: "eviction oom",
		stage: func(s *situation) {
			s.evict(s.start(1)[0])
			s.stopped()
			p := s.start(1)[0]
			s.told.Exits = append(s.told.Exits, 137)
			s.kubelet(p, all(ends(0, 137, "OOMKilled", ""), is(corev1.PodFailed)))
			s.awaitEnd(s.truth)
		}},
	{name: "nothing", shape: "limit3", phase: "complete", did: "nothing: the Job succeeded", says: []string{`succeeded`}, stage: (*situation).succeedRest},
	{name: "nothing", shape: "indexed", phase: "complete", options: []option{indexed(3, 2)}, did: "nothing: the Job succeeded", says: []string{`succeeded|completed`}, stage: (*situation).succeedRest},
	{name: "nothing", shape: "limit3", phase: "running", did: "nothing: the Job runs", says: []string{`run`}, stage: func(s *situation) { s.start(1) }},
}

func suspendedBy(user, manager string, resume bool) func(*situation) {
	return func(s *situation) {
		s.start(1)
		s.stopped()
		s.patch(user, manager, s.truth, "spec.suspend false -> true", `{"spec":{"suspend":true}}`)
		s.await(s.truth, "it is suspended", func(v view) bool { return v.job.Status.Active == 0 && len(v.live()) == 0 })
		s.pass(4 * time.Second)
		if resume {
			resumes(user, manager)(s)
			s.succeedRest()
		}
	}
}

func scaledTo(user, manager, patch string, ends bool) func(*situation) {
	return func(s *situation) {
		s.start(3)
		s.stopped()
		s.patch(user, manager, s.truth, patch, patch)
		s.await(s.truth, "pods were stopped", func(v view) bool { return len(v.live()) < 3 })
		s.pass(3 * time.Second)
		if ends {
			s.again()
			s.succeedRest()
		}
	}
}

func deletedAs(how metav1.DeletionPropagation) func(*situation) {
	return func(s *situation) {
		s.start(1)
		s.stopped()
		s.deleteJob(tom, s.truth.Job, how)
		s.awaitGone(s.truth)
	}
}
