package handover

import (
	"context"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"

	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/test/internal/history"
)

// TestATenantForgesTheBuiltin: a user who may change a Job can write into its managed fields that
// kube-controller-manager wrote its status, at any time. That stops no controller: the Jobs end.
func TestATenantForgesTheBuiltin(t *testing.T) {
	ctx, cancel := patience.Several(t.Context(), 2)
	defer cancel()
	x := newPlace(t, ctx, "forged")
	if err := x.ours.Start(ctx); err != nil {
		t.Fatal(err)
	}
	jobs := shared.Admin.BatchV1().Jobs(x.namespace)
	for _, name := range []string{"one", "two"} {
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					Containers:    []corev1.Container{{Name: "main", Image: "example.com/work:1"}},
				},
			}},
		}
		pods(1, 3, "1s")(job)
		if _, err := jobs.Create(ctx, job, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := x.history.Await(ctx, func(n history.Now) string {
		for _, name := range []string{"one", "two"} {
			if job := n.Jobs[name]; job == nil || job.Status.Active == 0 {
				return "both Jobs are awaited to run"
			}
		}
		return ""
	}); err != nil {
		t.Fatal(err)
	}
	for hour := range 4 {
		for _, name := range []string{"one", "two"} {
			x.forge(ctx, name, time.Now().Add(time.Duration(hour+1)*time.Hour))
		}
	}
	if err := x.history.Await(ctx, func(n history.Now) string {
		for _, name := range []string{"one", "two"} {
			if job := n.Jobs[name]; job.Status.Succeeded < 3 {
				return fmt.Sprintf("%d of 3 pods of %s have succeeded", job.Status.Succeeded, name)
			}
		}
		return ""
	}); err != nil {
		t.Fatal(err)
	}
	if err := x.ours.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if records, err := x.ours.Records(ctx, "--kind", "RivalFound"); err != nil || len(records) > 0 {
		t.Errorf("a rival was found: %v, %v", records, err)
	}
}

// forge writes into the Job's managed fields that the built-in wrote its status at that time.
func (x *place) forge(ctx context.Context, name string, at time.Time) {
	x.t.Helper()
	jobs := shared.Admin.BatchV1().Jobs(x.namespace)
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		job, err := jobs.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&job.ObjectMeta, "example.com/forged", at.String()) // times alone are not stored
		var kept []metav1.ManagedFieldsEntry
		for _, e := range job.ManagedFields {
			if e.Manager != builtinManager {
				kept = append(kept, e)
			}
		}
		job.ManagedFields = append(kept, metav1.ManagedFieldsEntry{
			Manager: builtinManager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "batch/v1",
			Time: &metav1.Time{Time: at}, FieldsType: "FieldsV1", Subresource: "status",
			FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:ready":{}}}`),
		})
		_, err = jobs.Update(ctx, job, metav1.UpdateOptions{FieldManager: "tenant"})
		return err
	}); err != nil {
		x.t.Fatal(err)
	}
	job, err := jobs.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, e := range job.ManagedFields {
		if e.Manager == builtinManager && e.Subresource == "status" && e.Time != nil && e.Time.Unix() == at.Unix() {
			return
		}
	}
	x.t.Errorf("the API server did not take what the tenant wrote, so this test proves nothing: %v", job.ManagedFields)
}

const builtinManager = "kube-controller-manager"
