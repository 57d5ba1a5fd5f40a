package jobstatus

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestBreaches(t *testing.T) {
	at := metav1.NewTime(time.Unix(1_700_000_000, 0))
	job := func(change ...func(*batchv1.JobStatus)) *batchv1.Job {
		j := &batchv1.Job{}
		for _, c := range change {
			c(&j.Status)
		}
		return j
	}
	cond := func(kind batchv1.JobConditionType, status corev1.ConditionStatus, message string, since metav1.Time) func(*batchv1.JobStatus) {
		return func(s *batchv1.JobStatus) {
			s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: kind, Status: status, Message: message, LastTransitionTime: since})
		}
	}
	begun := func(s *batchv1.JobStatus) { s.StartTime = &at }
	failing := cond(batchv1.JobFailureTarget, "True", "m", at)
	failed := cond(batchv1.JobFailed, "True", "m", at)
	suspended, resumed := cond(batchv1.JobSuspended, "True", "m", at), cond(batchv1.JobSuspended, "False", "m", at)
	for _, row := range []struct {
		name          string
		before, after *batchv1.Job
		rule          string // the only one; empty for none
	}{
		{"a Job fails in two writes", job(begun, failing), job(begun, failing, failed), ""},
		{"more pods are ready than active", nil, job(func(s *batchv1.JobStatus) { s.Ready = new(int32(1)) }), "J-027"},
		{"a condition stands twice", nil, job(suspended, suspended), "J-044"},
		{"a condition is lost", job(suspended), job(begun), "J-044"},
		{"the terminal condition stands alone", nil, job(failed), "J-162"},
		{"the terminal condition stands first", nil, job(failed, failing), "J-162"},
		{"the terminal condition stood first as False", job(cond(batchv1.JobFailed, "False", "m", at)), job(failed, failing), ""},
		{"the terminal condition says something else", nil, job(failing, cond(batchv1.JobFailed, "True", "n", at)), "J-162"},
		{"a Job fails no more", job(failing), job(cond(batchv1.JobFailureTarget, "False", "m", at)), "J-213, J-214"},
		{"a condition is written again", job(failing), job(cond(batchv1.JobFailureTarget, "True", "m", metav1.NewTime(at.Add(time.Hour)))), "J-045"},
		{"a Job is suspended", job(begun), job(suspended), ""},
		{"a suspended Job keeps its start", job(begun), job(begun, suspended), "J-148"},
		{"a Job is resumed", job(suspended), job(begun, resumed), ""},
		{"a resumed Job has no start", job(suspended), job(resumed), "J-151"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var rules []string
			for _, b := range Breaches(row.before, row.after) {
				rules = append(rules, b.Rule)
			}
			if got := strings.Join(rules, "; "); got != row.rule {
				t.Errorf("broken is %q, want %q", got, row.rule)
			}
		})
	}
}
