package bench

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAWrongStatusOfACronJobIsFound(t *testing.T) {
	due := time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)
	at := &metav1.Time{Time: due}
	for _, row := range []struct {
		sentence string
		spoil    func(ran, idle *batchv1.CronJob)
		want     string // a part of the message; empty: there is none
	}{
		{"nothing is wrong when it ran", func(_, _ *batchv1.CronJob) {}, ""},
		{"it did not run", func(ran, _ *batchv1.CronJob) { ran.Status = batchv1.CronJobStatus{} }, "does not say that it ran"},
		{"its Job is still in the list", func(ran, _ *batchv1.CronJob) { ran.Status.Active = make([]corev1.ObjectReference, 1) }, "does not say that it ran"},
		{"its Job did not succeed", func(ran, _ *batchv1.CronJob) { ran.Status.LastSuccessfulTime = nil }, "does not say that it ran"},
		{"it ran for another minute", func(ran, _ *batchv1.CronJob) {
			ran.Status.LastScheduleTime = &metav1.Time{Time: due.Add(time.Minute)}
		}, "does not say that it ran"},
		{"one that was not due ran", func(_, idle *batchv1.CronJob) { idle.Status.LastScheduleTime = at }, "was not due"},
		{"one is missing", func(ran, _ *batchv1.CronJob) { ran.Spec.Schedule = never; ran.Status = batchv1.CronJobStatus{} }, "0 CronJobs that were due, not 1"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			all := make([]batchv1.CronJob, 2)
			all[0].Status.LastScheduleTime, all[0].Status.LastSuccessfulTime = at, at
			all[1].Spec.Schedule = never
			row.spoil(&all[0], &all[1])
			c := crons{due: due, runs: make([]shape, 1)}
			if got := inWords(c.wrong(all)); row.want == "" && got != "" || !strings.Contains(got, row.want) {
				t.Errorf("found %q, want %q", got, row.want)
			}
		})
	}
}
