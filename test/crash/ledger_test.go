package crash

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// past builds a history, one version after the other.
type past []change

func (p past) add(c change) past {
	c.version = uint64(len(p) + 1)
	return append(p, c)
}

// job adds a version of an Indexed Job with two pods at a time.
func (p past) job(edits ...func(*batchv1.JobStatus)) past {
	job := indexedJob(0)
	job.UID = "job"
	job.Spec.Parallelism = new(int32(2))
	for _, c := range edits {
		c(&job.Status)
	}
	return p.add(change{job: job})
}

// fewer adds a version of the Job that wants fewer pods at a time.
func (p past) fewer(parallelism int32) past {
	p = p.job()
	p[len(p)-1].job.Spec.Parallelism = &parallelism
	return p
}

func counted(indexes string, succeeded, failed int32) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) { s.CompletedIndexes, s.Succeeded, s.Failed = indexes, succeeded, failed }
}

func uncounted(failed ...types.UID) func(*batchv1.JobStatus) {
	return func(s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Failed: failed}
	}
}

func complete(s *batchv1.JobStatus) {
	s.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
}

// pod adds a version of a pod: its name, index and phase, with the finalizer unless it is said to be free.
func (p past) pod(name string, index int, phase corev1.PodPhase, edits ...func(*corev1.Pod)) past {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Finalizers: []string{trackingFinalizer},
		Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index)},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "indexed", UID: "job", Controller: new(true)}},
	}}
	pod.Status.Phase = phase
	for _, c := range edits {
		c(pod)
	}
	return p.add(change{pod: pod})
}

func (p past) gone(name string, index int, phase corev1.PodPhase) past {
	p = p.pod(name, index, phase)
	p[len(p)-1].gone = true
	return p
}

func free(pod *corev1.Pod) { pod.Finalizers = nil }

func deleted(pod *corev1.Pod) { pod.DeletionTimestamp = new(metav1.Now()) }

func TestRulesFindWhatMustNeverBe(t *testing.T) {
	const (
		pending = corev1.PodPending
		running = corev1.PodRunning
		success = corev1.PodSucceeded
		failure = corev1.PodFailed
	)
	begun := past{}.job().pod("a", 0, pending)
	rows := []struct {
		sentence string
		past     past
		want     string // part of what is found; empty: nothing is
	}{
		{
			"a Job that runs as it should",
			begun.pod("b", 1, pending).pod("a", 0, success).job(counted("0", 1, 0)).pod("a", 0, success, free).pod("c", 2, pending),
			"",
		},
		{
			"a failed pod is named, let go and counted, and its index tried again",
			begun.pod("a", 0, failure).job(uncounted("a")).pod("a", 0, failure, free).job(counted("", 0, 1)).pod("b", 0, pending),
			"",
		},
		{
			"the finish counts and the finalizer goes after it",
			begun.pod("a", 0, failure).job(counted("", 0, 1), complete).pod("a", 0, failure, free),
			"",
		},
		{
			"a deleted pod may have a successor before it is gone",
			begun.pod("a", 0, running, deleted).pod("b", 0, pending).job(uncounted("a")).gone("a", 0, failure),
			"",
		},
		{
			"of more pods than the Job wants one goes uncounted",
			begun.pod("b", 1, running).fewer(1).pod("b", 1, running, free).pod("b", 1, running, free, deleted).gone("b", 1, failure),
			"",
		},
		{"more pods go uncounted than are too many", begun.fewer(1).pod("a", 0, running, free), "has lost its finalizer"},
		{
			"a pod that went uncounted is counted",
			begun.pod("b", 1, running).fewer(1).pod("b", 1, running, free).pod("b", 1, failure, free).job(counted("", 0, 1)),
			"1 pods are counted as failed, but only 0",
		},
		{"two live pods of an index", begun.pod("b", 0, pending), "index 0 has two live pods: a and b"},
		{"more pods than wanted", begun.pod("b", 1, pending).pod("c", 2, pending), "3 pods are active, the Job wants 2"},
		{"a pod without finalizer", past{}.job().pod("a", 0, pending, free), "without the finalizer"},
		{"a live pod is let go", begun.pod("a", 0, running, free), "has lost its finalizer"},
		{"a succeeded pod is let go before its index is completed", begun.pod("a", 0, success).pod("a", 0, success, free), "has lost its finalizer"},
		{"a failed pod is let go before it is named", begun.pod("a", 0, failure).pod("a", 0, failure, free), "has lost its finalizer"},
		{"a failed pod is gone before it is named", begun.pod("a", 0, failure).gone("a", 0, failure), "has lost its finalizer"},
		{"a pod is counted twice", begun.pod("a", 0, failure).job(uncounted("a")).job(uncounted("a"), counted("", 0, 1)), "2 pods are counted as failed, but only 1"},
		{"a success that never was", begun.job(counted("0", 1, 0)), "no pod of it has succeeded"},
		{"an index of another pod", begun.pod("a", 0, success).job(counted("1", 1, 0)), "index 1 is completed, but no pod"},
		{"a counter beside its set", begun.pod("a", 0, success).job(counted("0", 0, 0)), "succeeded is 0, but 1 indexes"},
		{"a counter that goes back", begun.pod("a", 0, failure).job(counted("", 0, 1)).job(), "the counters go back"},
		{"an index that is forgotten", begun.pod("a", 0, success).job(counted("0", 1, 0)).job(), "index 0 is not completed any more"},
		{
			"a finished Job that counts on",
			begun.job(complete).pod("a", 0, failure).job(complete, counted("", 0, 1)),
			"the counters change after the Job has finished",
		},
	}
	for _, row := range rows {
		t.Run(row.sentence, func(t *testing.T) {
			found := strings.Join(broken(row.past), "\n")
			if row.want == "" && found != "" || !strings.Contains(found, row.want) {
				t.Errorf("found %q, want %q", found, row.want)
			}
		})
	}
}

func TestIndexSetsAreRead(t *testing.T) {
	for text, want := range map[string]int{"": 0, "0": 1, "0-49": 50, "1,3-5,7": 5} {
		if got := len(indexes(text)); got != want {
			t.Errorf("%q holds %d indexes, want %d", text, got, want)
		}
	}
}
