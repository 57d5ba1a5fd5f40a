package observation

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

func managedFields(manager, subresource string, seconds int) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource, Time: new(sec(seconds)),
		FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`),
	}
}

func TestWhenTheBuiltinLastWroteTheStatus(t *testing.T) {
	tests := []struct {
		name    string
		mode    events.Mode
		entries []metav1.ManagedFieldsEntry
		want    events.Time
	}{
		{"nobody wrote it", events.ModeAll, nil, 0},
		{"the built-in wrote it", events.ModeAll,
			[]metav1.ManagedFieldsEntry{managedFields("kubectl-create", "", 1), managedFields("kube-controller-manager", "status", 7)},
			events.At(sec(7).Time)},
		{"the newest of its writes counts", events.ModeAll,
			[]metav1.ManagedFieldsEntry{managedFields("kube-controller-manager", "status", 9), managedFields("kube-controller-manager", "status", 7)},
			events.At(sec(9).Time)},
		{"the garbage collector changes metadata, not the status", events.ModeAll,
			[]metav1.ManagedFieldsEntry{managedFields("kube-controller-manager", "", 7)}, 0},
		{"our own writes are told apart by their field manager, and do not count (O-046)", events.ModeAll,
			[]metav1.ManagedFieldsEntry{managedFields("jobledger", "status", 7)}, 0},
		{"beside the built-in its writes are its business", events.ModeDelegated,
			[]metav1.ManagedFieldsEntry{managedFields("kube-controller-manager", "status", 7)}, 0},
		{"an observer expects them", events.ModeObserve,
			[]metav1.ManagedFieldsEntry{managedFields("kube-controller-manager", "status", 7)}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			job := testJob("a", func(j *batchv1.Job) { j.ManagedFields = tt.entries })
			read := wireJob(job)
			feed := NewFeed(Config{Mode: tt.mode, Key: testKey})
			feed.stripJob(read)
			for _, e := range read.ManagedFields {
				if e.FieldsV1 != nil {
					t.Error("the fields of an entry are kept, of which nothing is read")
				}
			}
			o, err := observed(feed, job, 1)
			if err != nil {
				t.Fatal(err)
			}
			if got := o.Facts.(*events.JobSeen).BuiltinWrote; got != tt.want {
				t.Errorf("the built-in wrote at %v, want %v", got, tt.want)
			}
		})
	}
}
