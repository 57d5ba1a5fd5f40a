package invariants

import (
	"fmt"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestAFullListLeavesPodsForTheNextWrite: a Job says that it has reached its completions, while the lists of the write
// are full and the other pods have succeeded, too. A pod that has not succeeded does not count for one that has.
func TestAFullListLeavesPodsForTheNextWrite(t *testing.T) {
	const completions = maxListed + 23
	for _, row := range []struct {
		sentence string
		listed   int
		change   func(*pod, *job)
		proven   bool
	}{
		{"the others have succeeded", maxListed, func(*pod, *job) {}, true},
		{"there was room for one more", maxListed - 1, func(*pod, *job) {}, false},
		{"one of the others runs", maxListed, func(p *pod, _ *job) { p.now.Status.Phase = corev1.PodRunning }, false},
		{"one of the others is counted already", maxListed, func(p *pod, j *job) { p.entries = map[*job]entry{j: countedSucceeded} }, false},
		{"one of the others lost its finalizer", maxListed, func(p *pod, _ *job) { p.tracked = false }, false},
	} {
		j := &job{pods: map[types.UID]*pod{}}
		after := &batchv1.Job{Spec: batchv1.JobSpec{Completions: new(int32(completions))}}
		after.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		for n := range completions {
			p := &pod{uid: types.UID(fmt.Sprint(n)), tracked: true, now: &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}}
			if n == completions-1 {
				row.change(p, j)
			}
			if n < row.listed {
				after.Status.UncountedTerminatedPods.Succeeded = append(after.Status.UncountedTerminatedPods.Succeeded, p.uid)
			}
			j.pods[p.uid] = p
		}
		if wrong := completionUnproven(j, after); (wrong == "") != row.proven {
			t.Errorf("%s: %q", row.sentence, wrong)
		}
	}
}
