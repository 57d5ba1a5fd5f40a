package observation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

func wrote(manager, subresource string, at int, fields string) metav1.ManagedFieldsEntry {
	when := sec(at)
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, Time: &when, FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// TestEditorsAreWhoChangedTheSpec: managed fields as an API server makes them. A client that wrote only the status or a
// label is no editor.
func TestEditorsAreWhoChangedTheSpec(t *testing.T) {
	job := testJob("demo", func(j *batchv1.Job) {
		j.ManagedFields = []metav1.ManagedFieldsEntry{
			wrote("kubectl-create", "", 1, `{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:backoffLimit":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:image":{}}}}}}}`),
			wrote("kubectl-patch", "", 7, `{"f:spec":{"f:suspend":{}}}`),
			wrote("labeller", "", 8, `{"f:metadata":{"f:labels":{"f:team":{}}}}`),
			wrote(events.BuiltinManager, "status", 9, `{"f:status":{"f:active":{}}}`),
			wrote("broken", "", 9, `{"f:spec":`),
		}
	})
	feed := NewFeed(Config{Key: testKey})
	read := wireJob(job)
	feed.stripJob(read)
	once := *read
	once.ManagedFields = slices.Clone(read.ManagedFields)
	feed.stripJob(read)
	if diff := cmp.Diff(&once, read); diff != "" {
		t.Errorf("stripped twice (-once +twice):\n%s", diff)
	}
	want := []events.Editor{
		{Edit: events.Edit{Manager: "kubectl-create", Operation: "Update", Time: events.At(sec(1).Time)}, Fields: []string{"backoffLimit", "template"}},
		{Edit: events.Edit{Manager: "kubectl-patch", Operation: "Update", Time: events.At(sec(7).Time)}, Fields: []string{"suspend"}},
	}
	if diff := cmp.Diff(want, feed.editors.of(read.ManagedFields)); diff != "" {
		t.Errorf("editors (-want +got):\n%s", diff)
	}
	if builtinWrote(read) != events.At(sec(9).Time) {
		t.Error("it is not known any more that the built-in wrote the status")
	}
	for _, e := range read.ManagedFields {
		if e.FieldsV1 != nil && len(e.FieldsV1.GetRawBytes()) > 60 {
			t.Errorf("of %s %d bytes are kept: %s", e.Manager, len(e.FieldsV1.GetRawBytes()), e.FieldsV1.GetRawBytes())
		}
	}
}

// TestOrigin: a Job's controller, the stem of its name, the labels that are kept, and its trace.
func TestOrigin(t *testing.T) {
	job := testJob("etl-29384", func(j *batchv1.Job) {
		j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "CronJob", Name: "etl", UID: "uid-etl", Controller: new(true)}}
		j.GenerateName = "etl-"
		j.Labels = map[string]string{"team": "data", "app": "etl", "secret": "x"}
		j.Annotations = map[string]string{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "other": "y"}
	})
	want := &events.Origin{
		Kind: "CronJob", Name: "etl", UID: "uid-etl", GenerateName: "etl-", Labels: []events.ObjectLabel{{Name: "app", Value: "etl"}, {Name: "team", Value: "data"}},
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
	if diff := cmp.Diff(want, originOf(wireJob(job), sorted(UsualLabels))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if o := originOf(wireJob(testJob("demo")), nil); o != nil {
		t.Errorf("a Job that somebody made by hand comes from %+v", o)
	}
}
