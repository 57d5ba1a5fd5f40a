package integration

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestTimelines plays the contract's reference timelines. The test is the kubelet and the user, and time is real. Every
// stored version is checked for states that must not occur.
func TestTimelines(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		job   []option
		args  []string // of the controller
		steps []step
		also  func(*timeline) // at the end
	}{
		{
			name:  "one pod that succeeds (J-259)",
			steps: onePodSucceeds,
			also:  eventsAre("SuccessfulCreate", "Completed"),
		},
		{
			name:  "two pods that fail, ten seconds apart, with a backoffLimit of 1 (J-260, J-103)",
			job:   []option{backoffLimit(1)},
			steps: twoPodsFail,
			also:  eventsAre("SuccessfulCreate", "SuccessfulCreate", "BackoffLimitExceeded"),
		},
		{
			name:  "a deadline passes while two pods run (J-261, J-146)",
			job:   []option{parallelism(2), completions(2), deadline(6)},
			steps: deadlinePasses,
			also:  eventsAre("SuccessfulCreate", "SuccessfulCreate", "SuccessfulDelete", "SuccessfulDelete", "DeadlineExceeded"),
		},
		{
			name:  "a user deletes a pod that is replaced when it has failed (J-262, J-136)",
			job:   []option{replacedWhen(batchv1.Failed)},
			steps: deletedAndReplacedWhenFailed,
		},
		{
			name:  "a user deletes a pod that counts as failed at once (J-262, J-022)",
			job:   []option{replacedWhen(batchv1.TerminatingOrFailed)},
			steps: deletedAndReplacedEarly,
		},
		{
			name:  "a user deletes a pod that counts as failed when its wait is over (J-262, J-022)",
			args:  []string{"--deleted-pod-wait=5s"},
			steps: deletedAndCountedLater,
		},
		{
			name:  "a user deletes a pod that ends with 0 within its wait (J-262, J-022)",
			args:  []string{"--deleted-pod-wait=1m"},
			steps: deletedAndSucceeded,
		},
		{
			name:  "one index fails twice, the others succeed (J-263, J-118, J-119)",
			job:   []option{indexed, completions(3), parallelism(3), perIndex(1)},
			steps: oneIndexFails,
			also:  eventsAre("SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "SuccessfulCreate", "FailedIndexes"),
		},
		{
			name:  "both indexes fail twice (J-264)",
			job:   []option{indexed, completions(2), parallelism(2), perIndex(1)},
			steps: bothIndexesFail,
		},
		{
			name:  "suspended and resumed while two pods run (J-265, J-148, J-151)",
			job:   []option{parallelism(2), completions(2)},
			steps: suspendedAndResumed,
			also:  eventsAre("SuccessfulCreate", "SuccessfulCreate", "Suspended", "SuccessfulDelete", "SuccessfulDelete", "Resumed", "SuccessfulCreate", "SuccessfulCreate"),
		},
		{
			name:  "an orphan is adopted again, and let go when its labels change (J-266, J-174, J-175)",
			steps: orphanedAndReleased,
			also:  eventsAre("SuccessfulCreate", "SuccessfulCreate"),
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newTimeline(t)
			l.args = row.args
			l.play(newJob("demo", row.job...), row.steps)
			if row.also != nil {
				row.also(l)
			}
		})
	}
}

func replacedWhen(p batchv1.PodReplacementPolicy) option {
	return func(j *batchv1.Job) { j.Spec.PodReplacementPolicy = &p }
}

func perIndex(limit int32) option {
	return func(j *batchv1.Job) { j.Spec.BackoffLimitPerIndex = &limit }
}

var onePodSucceeds = []step{
	{
		what:    "the Job is created",
		becomes: is(counts{1, 0, 0, 0, 0}, podsAre(1), held, started, nothingListed),
		never:   first(atMost(1), uncounted),
	},
	{
		what: "the pod runs and is ready", does: runs(0),
		becomes: is(counts{1, 1, 0, 0, 0}),
		never:   first(podsAre(1), held, uncounted, lacks(batchv1.JobSuccessCriteriaMet)),
	},
	{
		what: "the pod succeeds", does: succeeds(0),
		becomes: is(counts{0, 0, 0, 1, 0}, has(batchv1.JobSuccessCriteriaMet, "CompletionsReached"),
			has(batchv1.JobComplete, "CompletionsReached"), nothingListed, freed, completed),
		never: first(podsAre(1), noFailure),
	},
}

var twoPodsFail = []step{
	{what: "the Job is created", becomes: is(counts{1, 0, 0, 0, 0}, podsAre(1), held), never: atMost(1)},
	{what: "the first pod runs", does: runs(0), becomes: is(counts{1, 1, 0, 0, 0}), never: atMost(1)},
	{
		what: "the first pod fails", does: fails(0),
		becomes: is(counts{0, 0, 0, 0, 1}, podsAre(1), freed),
		never:   first(atMost(1), lacks(batchv1.JobFailureTarget)),
	},
	{
		what:    "ten seconds pass",
		becomes: is(counts{1, whatever, 0, 0, 1}, podsAre(2)),
		never:   first(madeTenSecondsAfter(endOf), lacks(batchv1.JobFailureTarget)),
	},
	{
		what: "the second pod fails", does: all(runs(1), fails(1)),
		becomes: is(counts{0, 0, 0, 0, 2}, has(batchv1.JobFailureTarget, "BackoffLimitExceeded"),
			has(batchv1.JobFailed, "BackoffLimitExceeded"), podsAre(2), freed, nothingListed, phases(corev1.PodFailed)),
		never: podsAre(2), lasts: 2 * time.Second,
	},
}

var deadlinePasses = []step{
	{what: "the Job is created", becomes: is(counts{2, whatever, 0, 0, 0}, podsAre(2), held), never: atMost(2)},
	{what: "the pods run", does: all(runs(0), runs(1)), becomes: is(counts{whatever, whatever, whatever, 0, whatever}, areReady), never: atMost(2)},
	{
		what:    "six seconds pass", // in the first second the status shows that both are active
		becomes: is(counts{0, 0, 2, 0, whatever}, has(batchv1.JobFailureTarget, "DeadlineExceeded"), areLeaving),
		never:   first(podsAre(2), lacks(batchv1.JobFailed), notBefore(6*time.Second)),
	},
	{
		what:    "the pods are counted while they terminate",
		becomes: is(counts{0, 0, 2, 0, 2}, freed, nothingListed),
		never:   first(podsAre(2), lacks(batchv1.JobFailed)),
	},
	{
		what: "one pod has ended", does: leaves(0),
		becomes: is(counts{0, 0, 1, 0, 2}, podsAre(1)),
		never:   lacks(batchv1.JobFailed),
	},
	{
		what: "the other has", does: leaves(0),
		becomes: is(counts{0, 0, 0, 0, 2}, has(batchv1.JobFailed, "DeadlineExceeded"), podsAre(0)),
		never:   atMost(1),
	},
}

var deletedAndReplacedWhenFailed = []step{
	{what: "the Job is created", becomes: is(counts{1, 0, 0, 0, 0}, podsAre(1), held), never: atMost(1)},
	{what: "the pod runs", does: runs(0), becomes: is(counts{1, 1, 0, 0, 0}), never: atMost(1)},
	{
		what: "a user deletes it", does: userDeletes(0),
		becomes: is(counts{0, 0, 1, 0, 0}, podsAre(1), held),
		never:   first(podsAre(1), held, uncounted), lasts: 3 * time.Second,
	},
	{
		what: "its containers end", does: fails(0),
		becomes: is(counts{0, 0, 0, 0, 1}, freed),
		never:   atMost(1),
	},
	{
		what: "ten seconds pass", does: leavesIfThere,
		becomes: is(counts{1, 0, 0, 0, 1}, podsAre(1), held, isOrdinal(2)),
		never:   atMost(1),
	},
}

// deletedAndCountedLater has a wait of more than a second, so that progress is published before the wait is over.
var deletedAndCountedLater = []step{
	{what: "the Job is created", becomes: is(counts{1, 0, 0, 0, 0}, podsAre(1), held), never: atMost(1)},
	{what: "the pod runs", does: runs(0), becomes: is(counts{1, 1, 0, 0, 0}), never: atMost(1)},
	{
		what: "a user deletes it", does: userDeletes(0),
		becomes: is(counts{0, 0, 1, 0, 0}, podsAre(1), held, nothingListed),
		never:   first(podsAre(1), held, uncounted, nothingListed),
	},
	{
		what:    "its wait is over",
		becomes: is(counts{0, 0, 1, 0, 1}, podsAre(1), freed),
		never:   podsAre(1),
	},
}

var deletedAndSucceeded = []step{
	{what: "the Job is created", becomes: is(counts{1, 0, 0, 0, 0}, podsAre(1), held), never: atMost(1)},
	{what: "the pod runs", does: runs(0), becomes: is(counts{1, 1, 0, 0, 0}), never: atMost(1)},
	{
		what: "a user deletes it", does: userDeletes(0),
		becomes: is(counts{0, 0, 1, 0, 0}, podsAre(1), held, nothingListed),
		never:   first(podsAre(1), held, uncounted, nothingListed),
	},
	{
		what: "its program ends with 0", does: succeeds(0),
		becomes: is(counts{0, 0, 0, 1, 0}, has(batchv1.JobComplete, "CompletionsReached"), freed, completed),
		never:   first(atMost(1), noFailure),
	},
}

var deletedAndReplacedEarly = []step{
	{what: "the Job is created", becomes: is(counts{1, 0, 0, 0, 0}, podsAre(1), held), never: atMost(1)},
	{what: "the pod runs", does: runs(0), becomes: is(counts{1, 1, 0, 0, 0}), never: atMost(1)},
	{
		what: "a user deletes it", does: userDeletes(0),
		becomes: is(counts{0, 0, 1, 0, 1}, podsAre(1), freed),
		never:   podsAre(1),
	},
	{
		what:    "ten seconds pass",
		becomes: is(counts{1, 0, 1, 0, 1}, podsAre(2)),
		never:   madeTenSecondsAfter(deletionOf),
	},
	{
		what: "the first has ended as Succeeded, which counts no more (J-034)", does: all(succeeds(0), leavesIfThere),
		becomes: is(counts{1, 0, 0, 0, 1}, podsAre(1)),
		never:   first(atMost(2), lacks(batchv1.JobSuccessCriteriaMet)), lasts: time.Second,
	},
}

var oneIndexFails = []step{
	{
		what:    "the Job is created",
		becomes: is(counts{3, 0, 0, 0, 0}, podsAre(3), held, indexesAre("", ""), failureCounts("0", "0"), failureCounts("1", "0"), failureCounts("2", "0")),
		never:   atMost(3),
	},
	{what: "all run", does: all(runs(0), runs(1), runs(2)), becomes: is(counts{3, 3, 0, 0, 0}), never: podsAre(3)},
	{
		what: "index 0 fails", does: indexFails("0", 0),
		becomes: is(counts{2, 2, 0, 0, 0}),
		never:   first(podsAre(3), held, uncounted), lasts: time.Second, // held until its replacement exists, in ten seconds
	},
	{
		what: "the others succeed", does: all(indexSucceeds("1"), indexSucceeds("2")),
		becomes: is(counts{0, 0, 0, 2, 0}, indexesAre("1,2", "")),
		never:   first(podsAre(3), ofIndexHeld("0"), lacks(batchv1.JobFailureTarget)),
	},
	{
		what:    "ten seconds pass",
		becomes: is(counts{1, whatever, 0, 2, 1}, failureCounts("0", "0", "1"), firstFreed("0")),
		never:   first(indexesAre("1,2", ""), heldUntilReplaced("0"), lacks(batchv1.JobFailureTarget)),
	},
	{
		what: "index 0 fails again", does: indexFails("0", 1),
		becomes: is(counts{0, 0, 0, 2, 2}, indexesAre("1,2", "0"), has(batchv1.JobFailed, "FailedIndexes"), freed, podsAre(4)),
		never:   podsAre(4), lasts: time.Second,
	},
}

var bothIndexesFail = []step{
	{what: "the Job is created", becomes: is(counts{2, 0, 0, 0, 0}, podsAre(2), held), never: atMost(2)},
	{
		what: "both indexes fail", does: all(indexFails("0", 0), indexFails("1", 0)),
		becomes: is(counts{0, 0, 0, 0, 0}),
		never:   first(podsAre(2), held, uncounted, lacks(batchv1.JobFailureTarget)),
	},
	{
		what:    "ten seconds pass",
		becomes: is(counts{2, whatever, 0, 0, 2}, failureCounts("0", "0", "1"), failureCounts("1", "0", "1")),
		never:   first(indexesAre("", ""), heldUntilReplaced("0"), heldUntilReplaced("1"), lacks(batchv1.JobFailureTarget)),
	},
	{
		what: "both fail again", does: all(indexFails("0", 1), indexFails("1", 1)),
		becomes: is(counts{0, 0, 0, 0, 4}, indexesAre("", "0,1"), has(batchv1.JobFailed, "FailedIndexes"), freed, podsAre(4)),
		never:   podsAre(4),
	},
}

var suspendedAndResumed = []step{
	{what: "the Job is created", becomes: is(counts{2, 0, 0, 0, 0}, podsAre(2), held), never: atMost(2)},
	{what: "both run", does: all(runs(0), runs(1)), becomes: is(counts{2, 2, 0, 0, 0}), never: atMost(2)},
	{
		what: "a user suspends it", does: func(l *timeline) { l.patch("demo", `{"suspend":true}`) },
		becomes: is(counts{0, 0, 2, 0, 0}, has(batchv1.JobSuspended, "JobSuspended"), notStarted, freed, areLeaving),
		never:   first(podsAre(2), uncounted, notStarted.unless(lacks(batchv1.JobSuspended))),
	},
	{
		what: "its pods have ended", does: allLeave,
		becomes: is(counts{0, 0, 0, 0, 0}, podsAre(0), notStarted),
		never:   first(atMost(2), uncounted), lasts: time.Second,
	},
	{
		what: "a user resumes it", does: func(l *timeline) { l.patch("demo", `{"suspend":false}`) },
		becomes: is(counts{2, 0, 0, 0, 0}, started, lacks(batchv1.JobSuspended), podsAre(2), held, isFalse(batchv1.JobSuspended, "JobResumed")),
		never:   first(atMost(2), uncounted),
	},
}

var orphanedAndReleased = []step{
	{what: "the Job is created", becomes: is(counts{1, 0, 0, 0, 0}, podsAre(1), held), never: atMost(1)},
	{what: "the pod runs", does: runs(0), becomes: is(counts{1, 1, 0, 0, 0}), never: atMost(1)},
	{
		what:    "a user empties its owner references and removes its finalizer",
		does:    patchPod(0, `{"metadata":{"ownerReferences":null,"finalizers":null}}`),
		becomes: is(counts{1, 1, 0, 0, 0}, podsAre(1), held, owned(0)),
		never:   first(podsAre(1), uncounted),
	},
	{
		what:    "a user takes its labels away",
		does:    patchPod(0, `{"metadata":{"labels":null}}`),
		becomes: is(counts{1, 0, 0, 0, 0}, podsAre(2), released(0), owned(1)),
		never:   first(atMost(2), uncounted),
	},
	{
		what: "the pod that was let go ends, and is nobody's", does: succeeds(0),
		becomes: is(counts{1, 0, 0, 0, 0}, podsAre(2)),
		never:   first(atMost(2), uncounted), lasts: time.Second,
	},
}

// rule is a rule about a scene.
type rule func(scene) string

// unless suspends a rule while another rule returns nothing.
func (r rule) unless(other func(scene) string) func(scene) string {
	return func(s scene) string {
		if other(s) == "" {
			return ""
		}
		return r(s)
	}
}

func started(s scene) string {
	if s.job.Status.StartTime == nil {
		return "there is no startTime"
	}
	return ""
}

var notStarted rule = func(s scene) string {
	if s.job.Status.StartTime != nil {
		return "there is a startTime"
	}
	return ""
}

func completed(s scene) string {
	if s.job.Status.CompletionTime == nil {
		return "there is no completionTime"
	}
	return ""
}

func noFailure(s scene) string {
	if s.job.Status.Failed > 0 || condition(s.job, batchv1.JobFailureTarget) != nil {
		return "a failure is counted"
	}
	return ""
}

func areReady(s scene) string {
	for _, p := range s.pods {
		if p.Status.Phase != corev1.PodRunning {
			return "pod " + p.Name + " does not run"
		}
	}
	return ""
}

func areLeaving(s scene) string {
	for _, p := range s.pods {
		if p.DeletionTimestamp == nil {
			return "pod " + p.Name + " is not being deleted"
		}
	}
	return ""
}

func phases(want corev1.PodPhase) func(scene) string {
	return func(s scene) string {
		for _, p := range s.pods {
			if p.Status.Phase != want {
				return fmt.Sprintf("pod %s is %s", p.Name, p.Status.Phase)
			}
		}
		return ""
	}
}

// notBefore: the deadline is not found passed earlier than this after the start.
func notBefore(deadline time.Duration) func(scene) string {
	return func(s scene) string {
		c := condition(s.job, batchv1.JobFailureTarget)
		if c != nil && c.LastTransitionTime.Sub(s.job.Status.StartTime.Time) < deadline {
			return fmt.Sprintf("failed %s after the start", c.LastTransitionTime.Sub(s.job.Status.StartTime.Time))
		}
		return ""
	}
}

// madeTenSecondsAfter: the second pod is not created before ten seconds after the first has finished. internal/dev/sim,
// with virtual time, judges how much later it may be.
func madeTenSecondsAfter(finished func(*corev1.Pod) time.Time) func(scene) string {
	return func(s scene) string {
		if len(s.pods) < 2 {
			return ""
		}
		wait := s.pods[1].CreationTimestamp.Sub(finished(s.pods[0])) // in whole seconds
		if wait < 10*time.Second {
			return fmt.Sprintf("the second pod was made %s after the first had finished", wait)
		}
		return ""
	}
}

func endOf(p *corev1.Pod) time.Time {
	return p.Status.ContainerStatuses[0].State.Terminated.FinishedAt.Time
}

func deletionOf(p *corev1.Pod) time.Time {
	return p.DeletionTimestamp.Add(-time.Duration(*p.DeletionGracePeriodSeconds) * time.Second)
}

// leavesIfThere removes the oldest pod; the API server may have removed it already, with its last finalizer.
func leavesIfThere(l *timeline) {
	if pods := l.now().pods; len(pods) > 0 && pods[0].DeletionTimestamp != nil {
		l.must(l.kubelet.Remove(l.ctx, pods[0]))
	}
}

func allLeave(l *timeline) {
	for _, p := range l.now().pods {
		l.must(l.kubelet.Remove(l.ctx, p))
	}
}

func isOrdinal(n uint64) func(scene) string {
	return func(s scene) string {
		if got := ordinal(s.pods[0]); got != n {
			return fmt.Sprintf("it is the pod number %d", got)
		}
		return ""
	}
}

// failureCounts requires one pod of the index for each of these failure counts, in order (J-119).
func failureCounts(index string, want ...string) func(scene) string {
	return func(s scene) string {
		var got []string
		for _, p := range s.ofIndex(index) {
			got = append(got, p.Annotations[batchv1.JobIndexFailureCountAnnotation])
		}
		if !slices.Equal(got, want) {
			return fmt.Sprintf("the pods of index %s have the failure counts %q", index, got)
		}
		return ""
	}
}

func indexFails(index string, nth int) func(*timeline) {
	return func(l *timeline) { l.must(l.kubelet.Fail(l.ctx, l.now().ofIndex(index)[nth], 1)) }
}

func indexSucceeds(index string) func(*timeline) {
	return func(l *timeline) { l.must(l.kubelet.Succeed(l.ctx, l.now().ofIndex(index)[0])) }
}

func ofIndexHeld(index string) func(scene) string {
	return func(s scene) string { return held(scene{job: s.job, pods: s.ofIndex(index)}) }
}

func firstFreed(index string) func(scene) string {
	return func(s scene) string { return freed(scene{job: s.job, pods: s.ofIndex(index)[:1]}) }
}

// heldUntilReplaced: the failed pod of an index keeps its finalizer until another pod of the index exists (J-118,
// J-120).
func heldUntilReplaced(index string) func(scene) string {
	return func(s scene) string {
		if pods := s.ofIndex(index); len(pods) == 1 {
			return held(scene{job: s.job, pods: pods})
		}
		return ""
	}
}

func isFalse(kind batchv1.JobConditionType, reason string) func(scene) string {
	return func(s scene) string {
		for _, c := range s.job.Status.Conditions {
			if c.Type == kind && c.Status == corev1.ConditionFalse && c.Reason == reason {
				return ""
			}
		}
		return fmt.Sprintf("condition %s is not False for %s", kind, reason)
	}
}

func patchPod(i int, patch string) func(*timeline) {
	return func(l *timeline) {
		_, err := l.client.CoreV1().Pods(l.namespace).Patch(
			l.ctx, l.now().pods[i].Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		l.must(err)
	}
}

func owned(i int) func(scene) string {
	return func(s scene) string {
		if owner := metav1.GetControllerOf(s.pods[i]); owner == nil || owner.UID != s.job.UID {
			return "pod " + s.pods[i].Name + " is not the Job's"
		}
		return ""
	}
}

func released(i int) func(scene) string {
	return func(s scene) string {
		if len(s.pods[i].OwnerReferences) > 0 {
			return "pod " + s.pods[i].Name + " has an owner"
		}
		return freed(scene{job: s.job, pods: s.pods[i : i+1]})
	}
}

// eventsAre waits until the Job has exactly these Kubernetes Events, in any order (J-194).
func eventsAre(want ...string) func(*timeline) {
	return func(l *timeline) {
		l.t.Helper()
		slices.Sort(want)
		l.eventually(fmt.Sprintf("the Events are %v", want), func() (bool, error) {
			list, err := l.client.CoreV1().Events(l.namespace).List(l.ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Job"})
			if err != nil {
				return false, err
			}
			var got []string
			for _, e := range list.Items {
				for range max(1, e.Count) {
					got = append(got, e.Reason)
				}
			}
			slices.Sort(got)
			if len(got) > len(want) {
				return false, fmt.Errorf("they are %v", got)
			}
			return slices.Equal(got, want), nil
		})
	}
}
