package integration

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/jobledger/jobledger/test/internal/deployed"
)

// TestSchedulePolicy: with examples/policy/schedules.yaml no CronJob may be due more than once a minute. An older
// CronJob that is may be changed, as long as its schedule stays.
func TestSchedulePolicy(t *testing.T) {
	w := newWorld(t)
	cronJobs := w.client.BatchV1().CronJobs(w.namespace)
	cronJob := func(name, schedule string) *batchv1.CronJob {
		return &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: batchv1.CronJobSpec{
			Schedule: schedule, Suspend: new(true), JobTemplate: batchv1.JobTemplateSpec{Spec: newJob(name).Spec},
		}}
	}
	if _, err := cronJobs.Create(t.Context(), cronJob("before", "@every 1s"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	objects, err := deployed.File("../examples/policy/schedules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects { // tests beside it make other CronJobs on the same server
		if o.GetKind() == "ValidatingAdmissionPolicyBinding" {
			own := map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": w.namespace}}
			if err := unstructured.SetNestedMap(o.Object, own, "spec", "matchResources", "namespaceSelector"); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.make(objects)
	try := func(schedule string) error {
		_, err := cronJobs.Create(t.Context(), cronJob("tried", schedule), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	w.eventually("the policy is in force", func() (bool, error) { return try("@every 1s") != nil, nil })
	for schedule, refused := range map[string]bool{
		"@every 1s": true, "@every 59.9s": true, "@every 0h0m30s": true,
		"@every 1m": false, "@every 90s": false, "@every 1h30m": false, "* * * * *": false, "*/5 8-18 * * mon-fri": false, "@hourly": false,
	} {
		err := try(schedule)
		if refused != (err != nil) {
			t.Errorf("%s: %v", schedule, err)
		} else if err != nil && !strings.Contains(err.Error(), `write "@every 1m"`) {
			t.Errorf("%s is refused in other words: %v", schedule, err)
		}
	}
	for change, refused := range map[string]bool{`{"spec":{"suspend":false}}`: false, `{"spec":{"schedule":"@every 2s"}}`: true} {
		_, err := cronJobs.Patch(t.Context(), "before", "application/merge-patch+json", []byte(change), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		if refused != (err != nil) {
			t.Errorf("%s: %v", change, err)
		}
	}
}
