package status

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// J-044: conditions of others stay where they are, and there is never a second one of a type.
// J-045: a condition is replaced as a whole: status, reason, message and both times.
// J-253: one that is False is changed in place.
func TestAConditionIsChangedInPlace(t *testing.T) {
	old := events.JobCondition{Type: FailureTarget, Status: "False", Reason: "Mine", Message: "words", Since: 1, Probed: 2}
	odd := events.JobCondition{Type: "example.com/Odd", Status: "True", Reason: "R", Message: "m", Since: 3, Probed: 4}
	target := events.JobCondition{Type: FailureTarget, Status: "True", Reason: "BackoffLimitExceeded", Message: "too many", Since: 9, Probed: 9}
	failed := events.JobCondition{Type: Failed, Status: "True", Reason: "BackoffLimitExceeded", Message: "too many", Since: 9, Probed: 9}
	before := Status{Conditions: []events.JobCondition{old, odd}}
	after := before.With(&events.StatusChange{Conditions: []events.JobCondition{target, failed}})
	if diff := cmp.Diff([]events.JobCondition{target, odd, failed}, after.Conditions); diff != "" {
		t.Errorf("conditions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]events.JobCondition{old, odd}, before.Conditions); diff != "" {
		t.Errorf("the status before was changed (-want +got):\n%s", diff)
	}
}

// fullStatus says something in every field.
func fullStatus() *events.JobStatus {
	return &events.JobStatus{
		Active: 1, Ready: 2, Terminating: 3, Succeeded: 4, Failed: 5, CompletedIndexes: "0-2", FailedIndexes: new("0,7"), HasUncounted: true,
		UncountedSucceeded: []types.UID{"a"}, UncountedFailed: []types.UID{"b"}, StartTime: 8e9, CompletionTime: 9e9,
		Conditions: []events.JobCondition{{Type: Suspended, Status: "False", Reason: "r", Message: "m", Since: 1, Probed: 2}},
	}
}

// TestAStatusIsNewsWhenAnythingInItDiffers: the newest observed status is the published base, so one that differs in
// whichever field may not be taken for a repeat (J-189).
func TestAStatusIsNewsWhenAnythingInItDiffers(t *testing.T) {
	base := Of(fullStatus())
	if diff := cmp.Diff(fullStatus(), base.Record()); diff != "" || !base.Equal(fullStatus()) {
		t.Errorf("a status does not come back as it was (-was +is):\n%s", diff)
	}
	full := reflect.TypeFor[events.JobStatus]()
	for i := range full.NumField() {
		changed := fullStatus()
		field := reflect.ValueOf(changed).Elem().Field(i)
		switch field.Kind() {
		case reflect.Bool:
			field.SetBool(!field.Bool())
		case reflect.String:
			field.SetString("9")
		case reflect.Int32, reflect.Int64:
			field.SetInt(field.Int() + 1)
		default: // a list, or what may be absent
			field.SetZero()
		}
		if base.Equal(changed) {
			t.Errorf("%s is another, and nobody notices", full.Field(i).Name)
		}
	}
	other := fullStatus()
	other.FailedIndexes = new("6")
	if base.Equal(other) {
		t.Error("failedIndexes are others, and nobody notices")
	}
}

// TestAChangeIsAppliedAsAWhole: every field of a change has its effect, and the status before stays as it is.
func TestAChangeIsAppliedAsAWhole(t *testing.T) {
	before := Of(fullStatus())
	limit := int32(2)
	after := before.With(&events.StatusChange{
		Active: new(int32(11)), Ready: new(int32(12)), Terminating: new(int32(13)), Succeeded: new(int32(14)), Failed: new(int32(15)),
		Counted: []types.UID{"a", "b"}, AddSucceeded: []types.UID{"c"}, AddFailed: []types.UID{"d"}, TrimTo: &limit, CompleteIndexes: "5",
		SetFailedIndexes: true, FailIndexes: "6", StartTime: 18e9, CompletionTime: 19e9,
	})
	want := fullStatus()
	want.Active, want.Ready, want.Terminating, want.Succeeded, want.Failed = 11, 12, 13, 14, 15
	want.UncountedSucceeded, want.UncountedFailed, want.StartTime, want.CompletionTime = []types.UID{"c"}, []types.UID{"d"}, 18e9, 19e9
	want.CompletedIndexes, want.FailedIndexes = "0,1,5", new("0,6")
	if diff := cmp.Diff(want, after.Record()); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(fullStatus(), before.Record()); diff != "" {
		t.Errorf("the status before was changed (-was +is):\n%s", diff)
	}
	cleared := after.With(&events.StatusChange{ClearStartTime: true, ClearFailedIndexes: true})
	want.StartTime, want.FailedIndexes = 0, nil
	if diff := cmp.Diff(want, cleared.Record()); diff != "" {
		t.Errorf("cleared (-want +got):\n%s", diff)
	}
	if cleared.FailedIndexes.Len() > 0 {
		t.Error("failed indexes that were cleared are still there")
	}
	none := New()
	first := none.With(&events.StatusChange{InitUncounted: true})
	if perIndex := none.With(&events.StatusChange{SetFailedIndexes: true}); !perIndex.HasFailedIndexes {
		t.Error("failedIndexes are not there, though they are written as none (J-040)")
	}
	if again := none.With(&events.StatusChange{}); !first.HasUncounted || first.HasFailedIndexes || none.HasUncounted || again.HasUncounted {
		t.Errorf("the first write of a status gives %+v", first)
	}
}
