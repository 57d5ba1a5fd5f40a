package explaintest

import (
	"reflect"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Moved is a record as it would be at another time: all times in it lie that much later.
func Moved(r *events.Record, by time.Duration) *events.Record {
	out := *r
	out.Facts, _ = moved(reflect.ValueOf(&r.Facts).Elem(), by).Interface().(events.Facts)
	out.Evidence, _ = moved(reflect.ValueOf(r.Evidence), by).Interface().(events.Evidence)
	out.Time = r.Time.Add(by)
	return &out
}

// moved is a deep copy of a value in which times are moved.
func moved(v reflect.Value, by time.Duration) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch {
	case v.Type() == timeType:
		if v.Int() != 0 {
			out.SetInt(v.Int() + int64(by))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(moved(v.Elem(), by))
	case v.Kind() == reflect.Interface && !v.IsNil():
		out.Set(moved(v.Elem(), by))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(moved(v.Field(i), by))
			}
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.Uint8 && !v.IsNil():
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(moved(v.Index(i), by))
		}
	}
	return out
}
