package invariants

import (
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestDeletions: deletions of Jobs that the controller must not make, and deletions that it must make. The Job finishes
// at once, with a TTL of 30 s unless a row changes it.
func TestDeletions(t *testing.T) {
	remove := func(l *lab, policy metav1.DeletionPropagation) {
		l.must(l.controller.DeleteJob(ctx, "default", "demo", l.current().UID, policy))
	}
	foreground := func(l *lab) { remove(l, metav1.DeletePropagationForeground) }
	pass := func(l *lab, d time.Duration) { l.Clock().AdvanceTo(l.Clock().Now().Add(d)) }
	ttl := func(seconds int32) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = &seconds }
	}
	for _, row := range []struct {
		name, want string
		history    func(*lab)
	}{
		{"at the expiry", "", func(l *lab) { pass(l, 30*time.Second); foreground(l) }},
		{"a second before the expiry", "T-070", func(l *lab) { pass(l, 29*time.Second); foreground(l) }},
		{"after the TTL was raised", "T-070", func(l *lab) { pass(l, 30*time.Second); l.update(ttl(60)); foreground(l) }},
		{"after the TTL was taken away", "T-070", func(l *lab) {
			pass(l, 30*time.Second)
			l.update(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = nil })
			foreground(l)
		}},
		{"at the expiry by a clock that is fast", "", func(l *lab) { l.checker.ClockSet(30 * time.Second); foreground(l) }},
		{"by a clock that was fast, and was set back", "", func(l *lab) {
			l.checker.ClockSet(time.Hour)
			pass(l, time.Second)
			l.checker.ClockSet(0)
			foreground(l)
		}},
		{"by a clock that was fast before the TTL was raised", "T-070", func(l *lab) {
			l.checker.ClockSet(time.Hour)
			pass(l, time.Second)
			l.checker.ClockSet(0)
			pass(l, time.Second)
			l.update(ttl(60))
			foreground(l)
		}},
		{"in the background", "T-071", func(l *lab) { pass(l, 30*time.Second); remove(l, metav1.DeletePropagationBackground) }},
		{"without a UID", "T-071", func(l *lab) {
			pass(l, 30*time.Second)
			l.must(l.controller.DeleteJob(ctx, "default", "demo", "", metav1.DeletePropagationForeground))
		}},
		{"never", "T-072", func(l *lab) { pass(l, 30*time.Second) }},
		{"never, without a TTL", "", func(l *lab) { l.update(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = nil }) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLab(t, true)
			l.checker = New(Config{Server: l.Server, Actor: "jobledger", DeletesExpired: true})
			l.job(ttl(30))
			l.end("a", -1, "Succeeded")
			l.end("b", -1, "Succeeded")
			l.status(counts(2, 0), complete, func(s *batchv1.JobStatus) {
				for i := range s.Conditions {
					s.Conditions[i].LastTransitionTime = metav1.NewTime(l.Clock().Now())
				}
			})
			l.drop(l.controller, "a")
			l.drop(l.controller, "b")
			row.history(l)
			got := errors.Join(l.checker.Check(), l.checker.Settled())
			if row.want == "" && got != nil || row.want != "" && (got == nil || !strings.Contains(got.Error(), row.want)) {
				t.Errorf("%v, want %q", got, row.want)
			}
		})
	}
}

// T-073: a Job that has not finished is never deleted, however long it runs.
func TestUnfinishedJobsAreNotDeleted(t *testing.T) {
	l := newLab(t, true)
	l.checker = New(Config{Server: l.Server, Actor: "jobledger", DeletesExpired: true})
	l.job(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = new(int32(0)) })
	l.must(l.controller.DeleteJob(ctx, "default", "demo", l.current().UID, metav1.DeletePropagationForeground))
	if err := l.checker.Check(); err == nil || !strings.Contains(err.Error(), "T-070") {
		t.Errorf("%v, want T-070", err)
	}
}
