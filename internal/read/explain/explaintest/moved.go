package explaintest

import (
	"reflect"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Moved returns a copy of a record in which all times are later by the duration by.
func Moved(r *events.Record, by time.Duration) *events.Record {
	return Rewritten(r, func(t events.Time) events.Time { return t.Add(by) }, nil)
}

// Rewritten returns a deep copy of record r, in which times replaces each time, and places each sequence (record
// number) except 0. A nil function replaces nothing.
func Rewritten(r *events.Record, times func(events.Time) events.Time,
	places func(events.Sequence) events.Sequence) *events.Record {
	w := rewriting{times, places}
	out := *r
	out.Facts, _ = w.value(reflect.ValueOf(&r.Facts).Elem()).Interface().(events.Facts)
	out.Evidence, _ = w.value(reflect.ValueOf(r.Evidence)).Interface().(events.Evidence)
	out.Header, _ = w.value(reflect.ValueOf(r.Header)).Interface().(events.Header)
	return &out
}

type rewriting struct {
	times  func(events.Time) events.Time
	places func(events.Sequence) events.Sequence
}

var placeType = reflect.TypeFor[events.Sequence]()

// value returns a deep copy of a value with rewritten times and sequences.
func (w *rewriting) value(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch {
	case v.Type() == timeType:
		if v.Int() != 0 && w.times != nil {
			out.SetInt(int64(w.times(events.Time(v.Int()))))
		}
	case v.Type() == placeType:
		if v.Uint() != 0 && w.places != nil {
			out.SetUint(uint64(w.places(events.Sequence(v.Uint()))))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(w.value(v.Elem()))
	case v.Kind() == reflect.Interface && !v.IsNil():
		out.Set(w.value(v.Elem()))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(w.value(v.Field(i)))
			}
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 && !v.IsNil():
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(w.value(v.Index(i)))
		}
	}
	return out
}
