package bench

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRetriesAreLate: the second pod of an index is as late as it comes after the backoff; others are no retries.
func TestRetriesAreLate(t *testing.T) {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pod := func(index, failures string, ended time.Duration) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
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
		{pod("0", "0", time.Second), false, 1300 * time.Millisecond}, // its finalizer went
		{pod("1", "0", 2*time.Second), false, 2100 * time.Millisecond},
		{pod("2", "0", 0), true, 3 * time.Second},
		{pod("0", "1", 0), true, 11300 * time.Millisecond},
		{pod("1", "1", 0), true, 11900 * time.Millisecond},
		{pod("0", "1", 12*time.Second), false, 13 * time.Second}, // an index that failed twice is not tried again
		{&corev1.Pod{}, true, 14 * time.Second},
	} {
		r.see(seen.pod, seen.first, began.Add(seen.at))
	}
	if want := []time.Duration{300 * time.Millisecond, -100 * time.Millisecond}; !slices.Equal(r.late, want) || len(r.due) > 0 {
		t.Errorf("late by %v, want %v; %d are due", r.late, want, len(r.due))
	}
}
