package controller

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/wire/kubewire"
)

// T-021: the time of the first condition that says that the Job finished counts.
// T-024: a finish time in the future is warned of.
// T-025: and so is a condition without a time.
func TestOddFinishTimes(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	cond := func(kind batchv1.JobConditionType, at time.Time) batchv1.JobCondition {
		return batchv1.JobCondition{Type: kind, Status: "True", LastTransitionTime: metav1.NewTime(at)}
	}
	late, never := "finished in the future", "unable to find the time"
	for _, tt := range []struct {
		name       string
		ttl        *int32
		conditions []batchv1.JobCondition
		want       string
	}{
		{"it finished before", new(int32(30)), []batchv1.JobCondition{cond("Complete", now.Add(-time.Hour))}, ""},
		{"it finished now", new(int32(30)), []batchv1.JobCondition{cond("Complete", now)}, ""},
		{"it finished in the future", new(int32(30)), []batchv1.JobCondition{cond("Failed", now.Add(2*time.Minute))}, late},
		{"nobody says when", new(int32(0)), []batchv1.JobCondition{cond("Complete", time.Time{})}, never},
		{"the first of two counts", new(int32(0)), []batchv1.JobCondition{cond("Failed", now.Add(-time.Hour)), cond("Complete", now.Add(time.Hour))}, ""},
		{"an interim condition does not", new(int32(0)), []batchv1.JobCondition{cond("FailureTarget", time.Time{}), cond("Failed", now)}, ""},
		{"it has no TTL", nil, []batchv1.JobCondition{cond("Complete", time.Time{})}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			e := &expiryWarner{log: slog.New(slog.NewTextHandler(&out, nil)), now: func() time.Time { return now }}
			job := &kubewire.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "demo"}}
			job.TTLSecondsAfterFinished, job.Status.Conditions = tt.ttl, tt.conditions
			e.look(job)
			switch said := out.String(); {
			case tt.want == "" && said != "":
				t.Errorf("it said %q", said)
			case !strings.Contains(said, tt.want), tt.want != "" && !strings.Contains(said, "level=WARN") || tt.want != "" && !strings.Contains(said, "job=ns/demo"):
				t.Errorf("it said %q, want %q", said, tt.want)
			}
		})
	}
}

// TestOddFinishTimesAreFew: whoever writes many such Jobs does not fill the controller's output.
func TestOddFinishTimesAreFew(t *testing.T) {
	var out strings.Builder
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	e := &expiryWarner{log: slog.New(slog.NewTextHandler(&out, nil)), now: func() time.Time { return now }}
	look := func(n int) {
		for i := range n {
			job := &kubewire.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("demo-", i)}}
			job.TTLSecondsAfterFinished = new(int32(1))
			job.Status.Conditions = []batchv1.JobCondition{{Type: "Complete", Status: "True"}}
			e.look(job)
		}
	}
	look(1000)
	if n := strings.Count(out.String(), "\n"); n != mostTold {
		t.Errorf("%d lines in a minute", n)
	}
	now = now.Add(time.Minute)
	look(1)
	if n := strings.Count(out.String(), "\n"); n != mostTold+1 {
		t.Errorf("%d lines after it", n)
	}
}
