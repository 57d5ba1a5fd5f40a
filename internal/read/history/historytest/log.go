package historytest

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/drive"
	"github.com/jobledger/jobledger/internal/dev/sim/kubelet"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

func upTo(seconds int) kubelet.Range { return kubelet.Range{Max: time.Duration(seconds) * time.Second} }

// Hard returns the log of a controller whose requests fail, whose watches break, and which crashes. The log has many
// files. Its Jobs are default/job-0 to job-3, each with its own spec; job-0 and job-1 have equal policies. The same
// seed gives the same log.
func Hard(t *testing.T, seed uint64) *memlog.Log {
	t.Helper()
	var jobs []*batchv1.Job
	for i := range 4 {
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("job-%d", i)},
			Spec: batchv1.JobSpec{
				ManagedBy: new(events.ManagedBy), Parallelism: new(int32(3)), Completions: new(int32(4 + i%2)), BackoffLimit: new(int32(5)),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "sim"}},
				}},
			},
		}
		if i < 2 {
			job.Spec.CompletionMode = new(batchv1.IndexedCompletion)
			job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(4))}}}
		}
		jobs = append(jobs, job)
	}
	d, err := drive.New(drive.Config{
		Settings: events.DefaultSettings(),
		World: world.Config{Seed: seed, Kubelet: kubelet.Config{
			Schedule: upTo(2), Start: upTo(3), RunTime: upTo(20), Stop: upTo(25), Confirm: upTo(2), FailRate: 0.3, CleanStop: 0.2,
		}},
		Faults: apiserver.Rates{apiserver.TimeoutBefore: 0.05, apiserver.TimeoutAfter: 0.05, apiserver.QuotaExceeded: 0.05},
		Crash:  0.005, Cut: 0.005, Files: 8 << 10,
	}, jobs...)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Steps(800); err != nil {
		t.Fatal(err)
	}
	if err := d.Settle(); err != nil {
		t.Fatal(err)
	}
	return d.Log()
}

// Records returns all durable records of the log. It fails the test if there are fewer than 100.
func Records(t *testing.T, log *memlog.Log) []events.Record {
	t.Helper()
	var out []events.Record
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	if len(out) < 100 {
		t.Fatalf("the history has %d records only", len(out))
	}
	return out
}
