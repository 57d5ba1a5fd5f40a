package events_test

import (
	"reflect"
	"testing"

	"github.com/jobledger/jobledger/events"
)

func TestPodsThatDifferInAnyFieldAreNotEqual(t *testing.T) {
	zero := &events.PodSeen{}
	if !zero.Equal(&events.PodSeen{Exits: []events.ContainerExit{}}) {
		t.Error("two pods that say nothing are not equal")
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[events.PodSeen]()) {
		other := &events.PodSeen{}
		v := reflect.ValueOf(other).Elem().FieldByIndex(field.Index)
		switch v.Kind() {
		case reflect.Bool:
			v.SetBool(true)
		case reflect.String:
			v.SetString("x")
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Pointer: // 0 is another answer than none
			v.Set(reflect.New(v.Type().Elem()))
		default:
			v.Set(reflect.ValueOf(1).Convert(v.Type()))
		}
		if zero.Equal(other) || other.Equal(zero) {
			t.Errorf("pods that differ in %s are equal", field.Name)
		}
		if !other.Equal(other) {
			t.Errorf("a pod with %s is not equal to itself", field.Name)
		}
	}
}
