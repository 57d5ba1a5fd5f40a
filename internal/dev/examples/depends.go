package examples

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// DependsOn returns the names of the fields of *v, at any depth, that have an effect on what text returns. For each
// field, it changes the field, calls text, and sets the field back. The fields of all elements of a list have the same
// name. Values in interfaces and maps are not changed.
func DependsOn(v any, text func() string) []string {
	told := map[string]bool{}
	was := text()
	fields(reflect.ValueOf(v).Elem(), "", func(name string, v reflect.Value) {
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		for _, x := range others(v) {
			v.Set(x)
			if !told[name] && text() != was {
				told[name] = true
			}
		}
		v.Set(before)
	})
	return slices.Sorted(maps.Keys(told))
}

// fields calls visit for each exported field below v, at any depth, with its path such as "Status.Reason".
func fields(v reflect.Value, name string, visit func(name string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		visit(name, v)
		if !v.IsNil() {
			fields(v.Elem(), name, visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fields(v.Field(i), strings.TrimPrefix(name+"."+f.Name, "."), visit)
			}
		}
	case reflect.Slice:
		visit(name, v)
		for i := range v.Len() {
			fields(v.Index(i), name, visit)
		}
	case reflect.Interface, reflect.Map, reflect.Array, reflect.Func, reflect.Chan:
	default:
		visit(name, v)
	}
}

// others returns values with which a test replaces v, to see what changes. None equals v. They include 0, 1 and 2,
// because texts differ for such counts, and extremes.
func others(v reflect.Value) (out []reflect.Value) {
	of := func(x any) { out = append(out, reflect.ValueOf(x).Convert(v.Type())) }
	switch v.Kind() {
	case reflect.Bool:
		of(!v.Bool())
	case reflect.String:
		of("")
		of("other")
	case reflect.Slice:
		out = append(out, reflect.Zero(v.Type()))
		for n := 1; n < v.Len(); n++ {
			out = append(out, v.Slice(0, n))
		}
	case reflect.Pointer:
		out = append(out, reflect.Zero(v.Type()))
	case reflect.Int32, reflect.Int64, reflect.Int, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		for n := range 5 {
			of(n)
		}
		if v.Kind() == reflect.Int64 {
			// If the number is a time in ns, the new time is on another day.
			of(int64(100 * 24 * 3600 * 1_000_000_000))
		}
	}
	return slices.DeleteFunc(out, func(x reflect.Value) bool { return reflect.DeepEqual(x.Interface(), v.Interface()) })
}
