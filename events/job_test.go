package events_test

import (
	"reflect"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestSpecsThatDifferInAFieldOfTheAPISaySo: if Differs forgot a field, an edit of that field would have no editor.
func TestSpecsThatDifferInAFieldOfTheAPISaySo(t *testing.T) {
	named := []string{"Hash", "Redacted", "Policies", "Key"} // of other fields
	for _, field := range reflect.VisibleFields(reflect.TypeFor[events.JobSpec]()) {
		other := &events.JobSpec{}
		v := reflect.ValueOf(other).Elem().FieldByIndex(field.Index)
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.String:
			v.SetString("x")
		case reflect.Pointer: // 0 is another answer than none
			v.Set(reflect.New(v.Type().Elem()))
		default:
			t.Fatalf("%s is a %s", field.Name, v.Kind())
		}
		want := 1
		for _, name := range named {
			if name == field.Name {
				want = 0
			}
		}
		if got := (&events.JobSpec{}).Differs(other); len(got) != want {
			t.Errorf("specs that differ in %s differ in %q", field.Name, got)
		}
	}
}
