package handover

import (
	"iter"
	"slices"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/test/internal/history"
)

// forgetDeletedIndexes handles a Job with too many failed indexes. From the failed indexes it removes those with pods
// that were all deleted because the Job failed. The built-in controller counts such pods in the same pass in which it
// deletes them, and does not name their indexes. But if another controller was killed between delete and count, the
// built-in names the index: its calculateFailedIndexes takes every failed pod with the finalizer.
func forgetDeletedIndexes(job *batchv1.Job, pods iter.Seq[history.Change]) {
	tooMany := func(c batchv1.JobCondition) bool { return c.Reason == batchv1.JobReasonMaxFailedIndexesExceeded }
	if job.Status.FailedIndexes == nil || !slices.ContainsFunc(job.Status.Conditions, tooMany) {
		return
	}
	failed := indexset.Parse(*job.Status.FailedIndexes, *job.Spec.Completions)
	var kept indexset.Set
	for c := range pods {
		index, err := strconv.ParseInt(c.Pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
		if err == nil && !c.Gone && failed.Has(int32(index)) {
			kept.Add(int32(index))
		}
	}
	job.Status.FailedIndexes = new(kept.Text())
}

// TestDeletedIndexesAreForgotten: only for Jobs with too many failed indexes, and only if no pod of the index is left.
func TestDeletedIndexesAreForgotten(t *testing.T) {
	pod := func(index string, gone bool) history.Change {
		return history.Change{Gone: gone, Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index},
		}}}
	}
	for _, row := range []struct {
		reason, failed, want string
		pods                 []history.Change
	}{
		{batchv1.JobReasonMaxFailedIndexesExceeded, "0,1,3", "0,1", []history.Change{pod("0", false), pod("1", false), pod("2", false), pod("3", true)}},
		{batchv1.JobReasonMaxFailedIndexesExceeded, "0,1", "0,1", []history.Change{pod("0", false), pod("1", true), pod("1", false)}},
		{batchv1.JobReasonFailedIndexes, "0,1", "0,1", []history.Change{pod("0", true), pod("1", true)}},
	} {
		job := &batchv1.Job{Spec: batchv1.JobSpec{Completions: new(int32(5))}, Status: batchv1.JobStatus{
			FailedIndexes: &row.failed, Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Reason: row.reason}},
		}}
		forgetDeletedIndexes(job, func(yield func(history.Change) bool) {
			for _, c := range row.pods {
				if !yield(c) {
					return
				}
			}
		})
		if got := *job.Status.FailedIndexes; got != row.want {
			t.Errorf("%s: of %s there is left %s, want %s", row.reason, row.failed, got, row.want)
		}
	}
}
