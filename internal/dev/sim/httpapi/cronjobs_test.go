package httpapi_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/httpapi"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// TestCronJobsAreServed: the server answers the requests of a CronJob controller and of its users.
func TestCronJobsAreServed(t *testing.T) {
	client, _ := connect(t, httpapi.Config{World: world.New(world.Config{})}, "application/vnd.kubernetes.protobuf")
	ctx, crons, jobs := t.Context(), client.BatchV1().CronJobs("default"), client.BatchV1().Jobs("default")
	in := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: batchv1.CronJobSpec{
		Schedule: "@daily", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template()}},
	}}
	c, err := crons.Create(ctx, in, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in.Name, in.Spec.Schedule = "d", "never"
	if _, err := crons.Create(ctx, in, metav1.CreateOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a bad schedule: %v", err)
	}
	c.Spec.Schedule = "@hourly"
	if c, err = crons.Update(ctx, c, metav1.UpdateOptions{}); err != nil || c.Generation != 2 {
		t.Fatalf("updated to generation %d: %v", c.Generation, err)
	}
	c.Status.LastScheduleTime = &metav1.Time{Time: time.Unix(3600, 0)}
	if _, err = crons.UpdateStatus(ctx, c, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err = crons.UpdateStatus(ctx, c, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("a status over an old version: %v", err)
	}
	if c, err = crons.Get(ctx, "c", metav1.GetOptions{}); err != nil || c.Status.LastScheduleTime.Unix() != 3600 {
		t.Fatalf("read %+v: %v", c, err)
	}
	if all, err := client.BatchV1().CronJobs("").List(ctx, metav1.ListOptions{}); err != nil || len(all.Items) != 1 {
		t.Errorf("listed %d: %v", len(all.Items), err)
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "c-60", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, batchv1.SchemeGroupVersion.WithKind("CronJob"))}},
		Spec:       c.Spec.JobTemplate.Spec,
	}
	if job, err = jobs.Create(ctx, job, metav1.CreateOptions{}); err != nil || job.Spec.Selector == nil {
		t.Fatalf("made %+v: %v", job, err)
	}
	background := metav1.DeletePropagationBackground
	if err := jobs.Delete(ctx, "c-60", metav1.DeleteOptions{PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions("another")}); !apierrors.IsConflict(err) {
		t.Errorf("a deletion of another UID: %v", err)
	}
	if err := crons.Delete(ctx, "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := jobs.Get(ctx, "c-60", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("its Job is not collected: %v", err)
	}
}
