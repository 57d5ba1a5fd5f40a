package integration

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/test/internal/deployed"
)

const (
	multiKueue = "kueue.x-k8s.io/multikueue"
	queueLabel = "kueue.x-k8s.io/queue-name"
)

// TestPolicies: with the policies of deploy/policy, a Job of a labelled namespace gets our managedBy, or is refused
// with a message that says what to add. Jobs of other namespaces, and Jobs with another managedBy, are left alone. The
// policies do not treat CronJobs: their Jobs are created later like any other Job.
func TestPolicies(t *testing.T) {
	w := newWorld(t)
	for namespace, label := range map[string]string{"policy-all": "all", "policy-unqueued": "unqueued", "policy-none": "", "policy-other": "off"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if label != "" {
			ns.Labels = map[string]string{"jobledger.dev/jobs": label}
		}
		if _, err := w.client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	rows := []struct {
		namespace, managedBy string
		queued               bool
		mutated              string // spec.managedBy with the mutating policy
		refused              bool   // with the validating one
	}{
		{namespace: "policy-all", mutated: events.ManagedBy, refused: true},
		{namespace: "policy-all", queued: true, mutated: events.ManagedBy, refused: true},
		{namespace: "policy-all", managedBy: multiKueue, queued: true, mutated: multiKueue},
		{namespace: "policy-all", managedBy: batchv1.JobControllerName, mutated: batchv1.JobControllerName},
		{namespace: "policy-all", managedBy: events.ManagedBy, mutated: events.ManagedBy},
		{namespace: "policy-unqueued", mutated: events.ManagedBy, refused: true},
		{namespace: "policy-unqueued", queued: true},
		{namespace: "policy-unqueued", managedBy: multiKueue, queued: true, mutated: multiKueue},
		{namespace: "policy-none"},
		{namespace: "policy-other"},
	}
	try := func(i int) (*batchv1.Job, error) {
		j := newJob("policy")
		if j.Spec.ManagedBy = nil; rows[i].managedBy != "" {
			j.Spec.ManagedBy = new(rows[i].managedBy)
		}
		if rows[i].queued {
			j.Labels = map[string]string{queueLabel: "gpu"}
		}
		return w.client.BatchV1().Jobs(rows[i].namespace).Create(t.Context(), j, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	}
	for _, policy := range []struct {
		file  string
		works func(*batchv1.Job, error) bool
		check func(i int, j *batchv1.Job, err error)
	}{
		{
			file:  "policy/mutating.yaml",
			works: func(j *batchv1.Job, err error) bool { return err == nil && j.Spec.ManagedBy != nil },
			check: func(i int, j *batchv1.Job, err error) {
				switch row := rows[i]; {
				case err != nil:
					t.Errorf("%+v: %v", row, err)
				case j.Spec.ManagedBy == nil && row.mutated != "", j.Spec.ManagedBy != nil && *j.Spec.ManagedBy != row.mutated:
					t.Errorf("%+v: managedBy %v", row, j.Spec.ManagedBy)
				}
			},
		},
		{
			file:  "policy/validating.yaml",
			works: func(_ *batchv1.Job, err error) bool { return err != nil },
			check: func(i int, _ *batchv1.Job, err error) {
				switch row := rows[i]; {
				case row.refused != (err != nil):
					t.Errorf("%+v: %v", row, err)
				case err != nil && !strings.Contains(err.Error(), "add spec.managedBy: "+events.ManagedBy):
					t.Errorf("%+v is refused in other words: %v", row, err)
				}
			},
		},
	} {
		objects, err := deployed.File(policy.file)
		if err != nil {
			t.Fatal(err)
		}
		w.make(objects)
		unmake := func() {
			resource := w.resources()
			for i := range objects {
				if err := resource(&objects[i]).Delete(context.Background(), objects[i].GetName(), metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
		}
		w.eventually(policy.file+" is in force", func() (bool, error) { return policy.works(try(0)), nil })
		for i := range rows {
			j, err := try(i)
			policy.check(i, j, err)
		}
		unmake()
		w.eventually(policy.file+" is not in force any more", func() (bool, error) { return !policy.works(try(0)), nil })
	}
}
