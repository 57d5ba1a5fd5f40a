package integration

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/test/internal/controller"
)

// TestCronJob: with --cronjobs and the rights of deploy/cronjobs a Job is created for a CronJob, and its status says
// so. After a restart the controller continues: if the history limit was lowered meanwhile, it deletes finished Jobs.
func TestCronJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := controller.GrantCronJobs(t.Context(), w.cp, w.namespace, w.namespace); err != nil {
		t.Fatal(err)
	}
	c := w.newController("all", "--cronjobs", "--ttl-after-finished=false")
	w.start(c)
	api := w.client.BatchV1().CronJobs(w.namespace)
	template := batchv1.JobTemplateSpec{Spec: newJob("template", managedBy(nil)).Spec}
	template.Labels = map[string]string{"of": "nightly"}
	made, err := api.Create(t.Context(), &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Name: "nightly"},
		Spec: batchv1.CronJobSpec{
			Schedule: "@every 1s", ConcurrencyPolicy: batchv1.ForbidConcurrent, JobTemplate: template,
			SuccessfulJobsHistoryLimit: new(int32(1)), FailedJobsHistoryLimit: new(int32(1)),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runs := func() []batchv1.Job {
		list, err := w.client.BatchV1().Jobs(w.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "of=nightly"})
		if err != nil {
			t.Fatal(err)
		}
		return list.Items
	}
	succeeded := func() (bool, error) {
		now, err := api.Get(t.Context(), "nightly", metav1.GetOptions{})
		return err == nil && now.Status.LastSuccessfulTime != nil && now.Status.LastScheduleTime != nil && len(now.Status.Active) == 0, err
	}
	w.eventually("a run succeeded, and the status says so", succeeded)
	first := runs()
	if len(first) == 0 {
		t.Fatal("there is no Job")
	}
	job := first[0]
	owner := metav1.GetControllerOf(&job)
	if owner == nil || owner.UID != made.UID || owner.Kind != "CronJob" || !strings.HasPrefix(job.Name, "nightly-") || job.Annotations[batchv1.CronJobScheduledTimestampAnnotation] == "" {
		t.Errorf("the Job is %+v", job.ObjectMeta)
	}
	w.stop(c)
	w.start(c)
	if _, err := api.Patch(t.Context(), "nightly", "application/merge-patch+json", []byte(`{"spec":{"suspend":true,"successfulJobsHistoryLimit":0}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("what has finished is deleted", func() (bool, error) { return len(runs()) == 0, nil })
	w.eventually("Events tell of it", func() (bool, error) {
		list, err := w.client.CoreV1().Events(w.namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=CronJob"})
		if err != nil {
			return false, err
		}
		var reasons []string
		for _, e := range list.Items {
			if e.Source.Component != "cronjob-controller" {
				t.Errorf("%s comes from %s", e.Reason, e.Source.Component)
			}
			reasons = append(reasons, e.Reason)
		}
		told := func(reason string) bool { return slices.Contains(reasons, reason) }
		return told("SuccessfulCreate") && told("SawCompletedJob") && told("SuccessfulDelete"), nil
	})
}
