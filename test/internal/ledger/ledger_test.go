package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/internal/history"
)

// past builds a history, one version after the other.
type past []history.Change

func (p past) add(c history.Change) past {
	c.Version, c.Seen = uint64(len(p)+1), start.Time
	return append(slices.Clip(p), c)
}

// after makes everything so far older by d.
func (p past) after(d time.Duration) past {
	p = slices.Clone(p)
	for i := range p {
		p[i].Seen = p[i].Seen.Add(-d)
	}
	return p
}

var start = metav1.NewTime(time.Unix(1_000_000, 0))

// newJob is an Indexed Job with 50 completions and parallelism 2, as it is first stored.
func newJob() *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "demo", UID: "job"},
		Spec: batchv1.JobSpec{
			CompletionMode: new(batchv1.IndexedCompletion), Completions: new(int32(50)), Parallelism: new(int32(2)),
			BackoffLimit: new(int32(6)),
		},
		Status: batchv1.JobStatus{
			StartTime: &start, Ready: new(int32(0)), Terminating: new(int32(0)),
			UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{},
		},
	}
}

// job adds a version of the Job.
func (p past) job(edits ...func(*batchv1.Job)) past {
	job := newJob()
	for _, c := range edits {
		c(job)
	}
	return p.add(history.Change{Job: job})
}

func spec(edit func(*batchv1.JobSpec)) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Generation++; edit(&j.Spec) }
}

func status(edit func(*batchv1.JobStatus)) func(*batchv1.Job) {
	return func(j *batchv1.Job) { edit(&j.Status) }
}

func parallelism(n int32) func(*batchv1.Job) {
	return spec(func(s *batchv1.JobSpec) { s.Parallelism = &n })
}

func fixed(n int32) func(*batchv1.Job) {
	return spec(func(s *batchv1.JobSpec) { s.CompletionMode, s.Completions = nil, &n })
}

// perIndexLimit makes a Job in which an index fails at its first failure, and which one failed index does not fail.
func perIndexLimit(j *batchv1.Job) {
	j.Spec.BackoffLimitPerIndex, j.Spec.MaxFailedIndexes = new(int32(0)), new(int32(1))
	j.Status.FailedIndexes = new("")
}

func failedIndexes(text string) func(*batchv1.Job) {
	return status(func(s *batchv1.JobStatus) { s.FailedIndexes = &text })
}

func waitsForFailed(j *batchv1.Job) { j.Spec.PodReplacementPolicy = new(batchv1.Failed) }

func counted(indexes string, succeeded, failed int32) func(*batchv1.Job) {
	return status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded, s.Failed = indexes, succeeded, failed })
}

func listed(failed ...types.UID) func(*batchv1.Job) {
	return status(func(s *batchv1.JobStatus) { s.UncountedTerminatedPods.Failed = failed })
}

func condition(kind batchv1.JobConditionType, reason string) func(*batchv1.Job) {
	return status(func(s *batchv1.JobStatus) {
		s.Conditions = append(s.Conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(start.Add(5 * time.Second)),
		})
	})
}

func complete(j *batchv1.Job) {
	condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonCompletionsReached)(j)
	condition(batchv1.JobComplete, batchv1.JobReasonCompletionsReached)(j)
	j.Status.CompletionTime = &start
}

// indexFour makes a Job that succeeds when its index 4 does.
func indexFour(j *batchv1.Job) {
	j.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("4")}}}
}

func met(j *batchv1.Job) { condition(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy)(j) }

func ended(j *batchv1.Job) {
	condition(batchv1.JobComplete, batchv1.JobReasonSuccessPolicy)(j)
	j.Status.CompletionTime = &start
}

func fails(reason string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		condition(batchv1.JobFailureTarget, reason)(j)
		condition(batchv1.JobFailed, reason)(j)
	}
}

// pod adds a version of a pod: its name, index and phase. It has the finalizer unless an edit removes it.
func (p past) pod(name string, index int, phase corev1.PodPhase, edits ...func(*corev1.Pod)) past {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Finalizers: []string{events.TrackingFinalizer},
		Annotations: map[string]string{
			batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index), batchv1.JobIndexFailureCountAnnotation: "0", events.CommandAnnotation: name,
		},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "demo", UID: "job", Controller: new(true)}},
	}}
	pod.Status.Phase = phase
	for _, c := range edits {
		c(pod)
	}
	return p.add(history.Change{Pod: pod})
}

func (p past) gone(name string, index int, phase corev1.PodPhase) past {
	p = p.pod(name, index, phase)
	p[len(p)-1].Gone = true
	return p
}

func free(pod *corev1.Pod) { pod.Finalizers = nil }

// again marks a pod of an index that has failed before.
func again(failures string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = failures }
}

// disrupted marks a failed pod that a Job with the policy of ignoring does not count.
func disrupted(pod *corev1.Pod) {
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
}

func ignoring(j *batchv1.Job) {
	j.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}

// limited makes a Job in which each index may fail once, and which has a backoffLimit of n.
func limited(n int32) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		perIndexLimit(j)
		j.Spec.BackoffLimitPerIndex, j.Spec.BackoffLimit = new(int32(1)), &n
	}
}

func suspended(yes bool) func(*batchv1.Job) {
	return spec(func(s *batchv1.JobSpec) { s.Suspend = &yes })
}

func deleted(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.Now()) }

const (
	pending = corev1.PodPending
	running = corev1.PodRunning
	success = corev1.PodSucceeded
	failure = corev1.PodFailed
)

func TestRulesFindWhatMustNeverBe(t *testing.T) {
	begun := past{}.job().pod("a", 0, pending)
	rows := []struct {
		sentence string
		past     past
		want     string // part of a violation; empty: there is none
	}{
		{
			"a Job that runs as it should",
			begun.pod("b", 1, pending).pod("a", 0, success).job(counted("0", 1, 0)).pod("a", 0, success, free).pod("c", 2, pending),
			"",
		},
		{
			"a failed pod is named, let go and counted, and its index tried again",
			begun.pod("a", 0, failure).job(listed("a")).pod("a", 0, failure, free).job(counted("", 0, 1)).pod("b", 0, pending),
			"",
		},
		{
			"the finish counts and the finalizer goes after it",
			begun.pod("a", 0, failure).job(counted("", 0, 1), complete).pod("a", 0, failure, free),
			"",
		},
		{
			"a deleted pod may have a successor before it is gone",
			begun.pod("a", 0, running, deleted).pod("b", 0, pending).job(listed("a")).gone("a", 0, failure),
			"",
		},
		{
			"of more pods than the Job wants one goes uncounted",
			begun.pod("b", 1, running).job(parallelism(1)).pod("b", 1, running, free).pod("b", 1, running, free, deleted).gone("b", 1, failure),
			"",
		},
		{
			"pods of a suspended Job go uncounted",
			begun.job(spec(func(s *batchv1.JobSpec) { s.Suspend = new(true) })).pod("a", 0, running, free),
			"",
		},
		{
			"a pod that ended just before its Job was suspended may go uncounted",
			begun.pod("a", 0, success).job(spec(func(s *batchv1.JobSpec) { s.Suspend = new(true) })).pod("a", 0, success, free),
			"",
		},
		{
			"a pod that ended long before its Job was suspended may not",
			begun.pod("a", 0, success).after(time.Minute).job(spec(func(s *batchv1.JobSpec) { s.Suspend = new(true) })).pod("a", 0, success, free),
			"J-085, J-090",
		},
		{"more pods go uncounted than are too many", begun.job(parallelism(1)).pod("a", 0, running, free), "J-085, J-090"},
		{
			"a pod that went uncounted is counted",
			begun.pod("b", 1, running).job(parallelism(1)).pod("b", 1, running, free).pod("b", 1, failure, free).job(counted("", 0, 1)),
			"1 pods are counted as failed, but only 0",
		},
		{
			"a pod that ends long after its Job was resumed is let go uncounted",
			begun.job(suspended(true)).job(suspended(false)).after(time.Minute).pod("b", 1, running).pod("b", 1, success).pod("b", 1, success, free),
			"J-085, J-090",
		},
		{"an ignored failure goes uncounted", past{}.job(ignoring).pod("a", 0, running).pod("a", 0, failure, disrupted).pod("a", 0, failure, disrupted, free), ""},
		{"an ignored failure is counted", past{}.job(ignoring).pod("a", 0, running).pod("a", 0, failure, disrupted).job(ignoring, listed("a")), "1 pods are counted as failed, but only 0"},
		{"a failure that no rule ignores goes uncounted", past{}.job(ignoring).pod("a", 0, running).pod("a", 0, failure).pod("a", 0, failure, free), "J-085, J-090"},
		{
			"a pod that is deleted because the Job has succeeded is counted",
			past{}.job(indexFour).pod("a", 4, success).pod("b", 1, running).job(indexFour, counted("4", 1, 0), met).pod("b", 1, running, deleted).
				job(indexFour, counted("4", 1, 0), met, listed("b")),
			"1 pods are counted as failed, but only 0",
		},
		{
			"and one that failed of it",
			past{}.job(indexFour).pod("a", 4, success).pod("b", 1, running).job(indexFour, counted("4", 1, 0), met).pod("b", 1, running, deleted).
				pod("b", 1, failure, deleted).job(indexFour, counted("4", 1, 0), met, listed("b")),
			"1 pods are counted as failed, but only 0",
		},
		{
			"a pod that had failed before the Job succeeded is let go uncounted",
			past{}.job(indexFour).pod("a", 4, success).pod("b", 1, running).pod("b", 1, failure).after(time.Minute).
				job(indexFour, counted("4", 1, 0), met).pod("b", 1, failure, free),
			"J-085, J-090",
		},
		{"a surplus pod is deleted with its finalizer", begun.pod("b", 1, running).job(parallelism(1)).pod("b", 1, running, deleted), "J-073"},
		{"more failures than the limit, and the Job goes on", past{}.job(limited(0)).pod("a", 0, failure).job(limited(0), listed("a")), "J-112"},
		{"more failed indexes than the limit, and the Job goes on", past{}.job(perIndexLimit).pod("a", 0, failure).pod("b", 1, failure).job(perIndexLimit, failedIndexes("0,1"), listed("a", "b")), "J-123"},
		{"a failed index gets another pod", past{}.job(perIndexLimit).pod("a", 0, failure).job(perIndexLimit, failedIndexes("0"), listed("a")).pod("b", 0, pending, again("1")), "J-052, J-117"},
		{"a completed index gets another pod", begun.pod("a", 0, success).job(counted("0", 1, 0)).pod("b", 0, pending), "J-052, J-117"},
		{"a replacement takes the failures of its index over", past{}.job(limited(6)).pod("a", 0, failure).pod("b", 0, pending, again("1")), ""},
		{"a replacement forgets the failures of its index", past{}.job(limited(6)).pod("a", 0, failure).pod("b", 0, pending), "J-119"},
		{"two live pods of an index", begun.pod("b", 0, pending), "index 0 has two live pods: b and a"},
		{"more pods than wanted", begun.pod("b", 1, pending).pod("c", 2, pending), "3 pods hold a slot, the Job wants at most 2"},
		{
			"a pod is made for the index of one that only leaves, though it is not failed before it has",
			past{}.job(waitsForFailed).pod("a", 0, pending).pod("a", 0, running, deleted).pod("b", 0, pending),
			"J-136",
		},
		{"a pod without finalizer", past{}.job().pod("a", 0, pending, free), "J-084"},
		{"a live pod is let go", begun.pod("a", 0, running, free), "J-085, J-090"},
		{"a succeeded pod is let go before its index is completed", begun.pod("a", 0, success).pod("a", 0, success, free), "J-085, J-090"},
		{"a failed pod is let go before it is named", begun.pod("a", 0, failure).pod("a", 0, failure, free), "J-085, J-090"},
		{"a failed pod is gone before it is named", begun.pod("a", 0, failure).gone("a", 0, failure), "J-085, J-090"},
		{"a pod is counted twice", begun.pod("a", 0, failure).job(listed("a")).job(listed("a"), counted("", 0, 1)), "2 pods are counted as failed, but only 1"},
		{"a named pod is counted with its finalizer", begun.pod("a", 0, failure).job(listed("a")).job(counted("", 0, 1)), "moved to the counter with its finalizer"},
		{
			"a counted pod is named again",
			begun.pod("a", 0, failure).job(listed("a")).pod("a", 0, failure, free).job(counted("", 0, 1)).job(listed("a"), counted("", 0, 1)),
			"J-088",
		},
		{"a name of nobody", begun.job(listed("x")), "J-031"},
		{"a success that never was", begun.job(counted("0", 1, 0)), "no pod of it has succeeded"},
		{"an index of another pod", begun.pod("a", 0, success).job(counted("1", 1, 0)), "index 1 is completed, but no pod"},
		{"a counter beside its set", begun.pod("a", 0, success).job(counted("0", 0, 0)), "succeeded is 0, but 1 indexes"},
		{"a counter that goes back", begun.pod("a", 0, failure).job(counted("", 0, 1)).job(), "J-037"},
		{"a success without indexes that goes back", past{}.job(fixed(3)).pod("a", -1, success).job(fixed(3), counted("", 1, 0)).job(fixed(3)), "J-037"},
		{"an index that is forgotten", begun.pod("a", 0, success).job(counted("0", 1, 0)).job(), "index 0 is not completed any more"},
		{
			"an index beyond fewer completions may go",
			begun.pod("a", 0, success).job(counted("0", 1, 0)).job(spec(func(s *batchv1.JobSpec) { s.Completions = new(int32(0)) })),
			"",
		},
		{"more ready than active", begun.job(status(func(s *batchv1.JobStatus) { s.Ready = new(int32(1)) })), "J-027"},
		{"a status without terminating", begun.job(status(func(s *batchv1.JobStatus) { s.Terminating = nil; s.Active = 1 })), "J-028"},
		{
			"suspended with its old start",
			begun.job(spec(func(s *batchv1.JobSpec) { s.Suspend = new(true) }), condition(batchv1.JobSuspended, "JobSuspended")),
			"J-148",
		},
		{"an interim condition is lost", begun.job(condition(batchv1.JobFailureTarget, "x")).job(), "J-044"},
		{"the end without its beginning", begun.job(condition(batchv1.JobFailed, "x")), "J-162"},
		{"finished with something left", begun.job(complete, status(func(s *batchv1.JobStatus) { s.Active = 1 })), "J-166"},
		{"finished while a pod runs", begun.job(complete), "J-163"},
		{"a pod after the finish", past{}.job().job(complete).pod("a", 0, pending), "J-009"},
		{
			"an index that completed and failed",
			past{}.job(spec(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(0)) }), status(func(s *batchv1.JobStatus) { s.FailedIndexes = new("") })).
				pod("a", 0, failure).pod("b", 0, success).
				job(spec(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(0)) }), status(func(s *batchv1.JobStatus) {
					s.FailedIndexes, s.CompletedIndexes, s.Succeeded = new("0"), "0", 1
				})),
			"J-126",
		},
		{
			"a finished Job that is written again",
			past{}.job().job(complete).pod("a", 0, failure).job(complete, counted("", 0, 1)),
			"J-008",
		},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			byUser := func(pod types.UID) bool { return pod == "a" }
			found := said(Read(Config{Deleted: byUser}, row.past).Violations())
			if row.want == "" && found != "" || !strings.Contains(found, row.want) {
				t.Errorf("found %q, want %q", found, row.want)
			}
		})
	}
}

func TestTheEndIsBorneOut(t *testing.T) {
	begun := past{}.job().pod("a", 0, pending)
	lost := begun.pod("a", 0, failure)
	short := func(j *batchv1.Job) { j.Spec.Completions = new(int32(1)) }
	rows := []struct {
		sentence string
		past     past
		want     string
	}{
		{"complete with what it wanted", past{}.job(short).pod("a", 0, success).job(short, counted("0", 1, 0), complete).pod("a", 0, success, free), ""},
		{"a finalizer stays", past{}.job(short).pod("a", 0, success).job(short, counted("0", 1, 0), complete), "J-102"},
		{"complete without what it wanted", begun.pod("a", 0, success).job(counted("0", 1, 0), complete).pod("a", 0, success, free), "J-160"},
		{"it never ends", begun, "it has not finished"},
		{"a failure is forgotten", past{}.job(short).pod("b", 0, failure).pod("a", 0, success).job(short, counted("0", 1, 0), complete), "the history says 1 to 1"},
		{"a success is forgotten", past{}.job(fixed(2)).pod("a", -1, success).job(fixed(2), complete), "0 pods are counted as succeeded, 1 succeeded"},
		{"failed at its limit", lost.job(counted("", 0, 1), fails("BackoffLimitExceeded"), spec(func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(0)) })).pod("a", 0, failure, free), ""},
		{"failed below its limit", lost.job(counted("", 0, 1), fails("BackoffLimitExceeded")), "J-112"},
		{
			"failed before its deadline",
			lost.job(counted("", 0, 1), fails("DeadlineExceeded"), spec(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = new(int64(6)) })),
			"J-146",
		},
		{"failed by a policy that matched nothing", lost.job(counted("", 0, 1), fails("PodFailurePolicy")), "J-132"},
		{"failed for indexes that did not", lost.job(counted("", 0, 1), fails("FailedIndexes")), "J-124"},
		{
			"failed for more indexes than it may, which fewer completions have trimmed since",
			past{}.job(perIndexLimit).pod("a", 0, failure).pod("b", 1, failure).
				job(perIndexLimit, failedIndexes("0,1"), condition(batchv1.JobFailureTarget, "MaxFailedIndexesExceeded"), listed("a", "b")).
				pod("a", 0, failure, free).pod("b", 1, failure, free).
				job(perIndexLimit, spec(func(s *batchv1.JobSpec) { s.Completions = new(int32(1)) }), failedIndexes("0"), counted("", 0, 2), fails("MaxFailedIndexesExceeded")),
			"",
		},
		{
			"failed for more indexes than it may, and there are no more",
			past{}.job(perIndexLimit).pod("a", 0, failure).
				job(perIndexLimit, failedIndexes("0"), counted("", 0, 1), fails("MaxFailedIndexesExceeded")).pod("a", 0, failure, free),
			"J-123",
		},
		{
			"complete by a policy whose index fewer completions have trimmed since",
			past{}.job(indexFour).pod("a", 4, success).job(indexFour, counted("4", 1, 0), met).pod("a", 4, success, free).
				job(indexFour, spec(func(s *batchv1.JobSpec) { s.Completions = new(int32(4)) }), met, ended),
			"",
		},
		{
			"complete by a policy that nothing meets",
			past{}.job(indexFour).pod("a", 3, success).job(indexFour, counted("3", 1, 0), met, ended).pod("a", 3, success, free),
			"J-139",
		},
		{"failed for no known reason", lost.job(counted("", 0, 1), fails("Whim")), "J-159"},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			l := Read(Config{}, row.past)
			for _, a := range l.Accounts() {
				a.Settle()
			}
			found := said(l.Violations())
			if row.want == "" && found != "" || !strings.Contains(found, row.want) {
				t.Errorf("found %q, want %q", found, row.want)
			}
		})
	}
}

func said(all []Violation) string {
	var text strings.Builder
	for _, v := range all {
		fmt.Fprintln(&text, v)
	}
	return text.String()
}

func TestIndexSetsAreRead(t *testing.T) {
	for text, want := range map[string]int{"": 0, "0": 1, "0-49": 50, "1,3-5,7": 5} {
		if got := len(Indexes(text)); got != want {
			t.Errorf("%q holds %d indexes, want %d", text, got, want)
		}
	}
}
