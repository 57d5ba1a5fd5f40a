package bench

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestRetriesAreLate: the delay of an index's second pod counts from the end of the backoff; other pods are no retries.
func TestRetriesAreLate(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := func(index, failures string, ended time.Duration) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: types.UID(index + "/" + failures), Annotations: map[string]string{
			batchv1.JobCompletionIndexAnnotation: index, batchv1.JobIndexFailureCountAnnotation: failures,
		}}}
		if ended > 0 {
			p.Status.Phase = corev1.PodFailed
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(began.Add(ended))},
			}}}
		}
		return p
	}
	var r retries
	for _, seen := range []struct {
		pod   *corev1.Pod
		first bool
		at    time.Duration
	}{
		{pod("0", "0", 0), true, 0},
		{pod("1", "0", 0), true, 0},
		{pod("0", "0", time.Second), false, 1200 * time.Millisecond},
		{pod("0", "0", time.Second), false, 1300 * time.Millisecond}, // its finalizer was removed
		{pod("1", "0", 2*time.Second), false, 2100 * time.Millisecond},
		{pod("2", "0", 0), true, 3 * time.Second},
		{pod("0", "1", 0), true, 11300 * time.Millisecond},
		{pod("0", "0", time.Second), false, 11400 * time.Millisecond}, // a failed pod is counted once
		{pod("1", "1", 0), true, 11900 * time.Millisecond},
		{pod("0", "1", 12*time.Second), false, 13 * time.Second}, // an index that failed twice is not tried again
	} {
		r.see(seen.pod, shape{pods: 3, perIndex: true}, seen.first, began.Add(seen.at))
	}
	if want := []time.Duration{300 * time.Millisecond, -100 * time.Millisecond}; !slices.Equal(r.late, want) || len(r.due) > 0 {
		t.Errorf("late by %v, want %v; %d are due", r.late, want, len(r.due))
	}
}

// TestTheOnlyPodOfAJobIsRetried: each failure doubles the backoff. In a Job of many pods, which share one backoff, no
// delay is measured.
func TestTheOnlyPodOfAJobIsRetried(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	failed := func(uid types.UID, ended time.Duration) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}
		p.Status.Phase = corev1.PodFailed
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(began.Add(ended))},
		}}}
		return p
	}
	for _, row := range []struct {
		pods int32
		want []time.Duration
	}{{1, []time.Duration{200 * time.Millisecond, 300 * time.Millisecond}}, {2, nil}} {
		var r retries
		of := shape{pods: row.pods}
		r.see(failed("a", time.Second), of, false, began.Add(1100*time.Millisecond))
		r.see(&corev1.Pod{}, of, true, began.Add(11200*time.Millisecond))
		r.see(failed("b", 12*time.Second), of, false, began.Add(12100*time.Millisecond))
		r.see(&corev1.Pod{}, of, true, began.Add(32300*time.Millisecond))
		if !slices.Equal(r.late, row.want) {
			t.Errorf("a Job of %d pods: late by %v, want %v", row.pods, r.late, row.want)
		}
	}
}
