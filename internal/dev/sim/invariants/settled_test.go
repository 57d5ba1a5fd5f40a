package invariants

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestSettled: states that are errors once the world is at rest.
//
//conformance:fact the simulation finds: %s
func TestSettled(t *testing.T) {
	for _, row := range []struct {
		name    string
		want    string
		history func(*lab)
	}{
		{"a finished Job whose pods are free", "", func(l *lab) {
			l.job()
			l.end("a", -1, corev1.PodSucceeded)
			l.end("b", -1, corev1.PodSucceeded)
			l.status(counts(2, 0), complete)
			l.drop(l.controller, "a")
			l.drop(l.controller, "b")
		}},
		{"a pod of a finished Job keeps the finalizer", "J-100", func(l *lab) {
			l.job()
			l.end("a", -1, corev1.PodFailed)
			l.status(counts(0, 1), failed)
		}},
		{"a pod of a deleted Job keeps the finalizer", "J-100, J-102", func(l *lab) {
			l.job()
			l.create("a", -1)
			l.must(l.user.DeleteJob(ctx, "default", "demo", "", "Background"))
		}},
		{"a pod holds up the deletion of its Job", "J-011, J-102", func(l *lab) {
			l.job()
			l.create("a", -1)
			l.must(l.user.DeleteJob(ctx, "default", "demo", "", "Foreground"))
			l.delete(l.user, "a")
		}},
		{"a Job is stuck", "nothing is forgotten", func(l *lab) {
			l.job()
			l.status()
		}},
		{"a Job waits for pods that run", "", func(l *lab) {
			l.job()
			l.run("a", -1)
			l.status(func(s *batchv1.JobStatus) { s.Active = 1 })
		}},
		{"active is not true", "J-026", func(l *lab) {
			l.job()
			l.run("a", -1)
			l.run("b", -1)
			l.status(func(s *batchv1.JobStatus) { s.Active = 1 })
		}},
		{"pods stay uncounted", "J-085", func(l *lab) {
			l.job()
			l.status(uncounted([]types.UID{l.end("a", -1, corev1.PodSucceeded)}, nil))
			l.drop(l.controller, "a")
		}},
		{"an ended pod keeps the finalizer", "J-090", func(l *lab) {
			l.job()
			l.end("a", -1, corev1.PodSucceeded)
		}},
		{"a suspended Job lacks the condition", "J-148", func(l *lab) {
			l.job(func(s *batchv1.JobSpec) { s.Suspend = new(true) })
			l.status()
		}},
		{"a suspended Job may wait", "", func(l *lab) {
			l.job(func(s *batchv1.JobSpec) { s.Suspend = new(true) })
			l.status(isNow(batchv1.JobSuspended), func(s *batchv1.JobStatus) { s.StartTime = nil })
		}},
		{"a surplus pod was never deleted", "J-073", func(l *lab) {
			l.job()
			l.run("a", -1)
			l.drop(l.controller, "a")
		}},
		{"somebody else's Job is nobody's business", "", func(l *lab) {
			l.job(func(s *batchv1.JobSpec) { s.ManagedBy = nil })
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t, false)
			row.history(l)
			wantRule(t, l.checker.Check(), "")
			wantRule(t, l.checker.Settled(), row.want)
		})
	}
}
