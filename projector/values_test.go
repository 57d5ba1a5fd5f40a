package projector

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/policy"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// TestEachFieldOfAValueIsStored: a value with all fields set is the same after the wire. If its encoding forgot a
// field, another process would decide otherwise.
func TestEachFieldOfAValueIsStored(t *testing.T) {
	for _, v := range newValues() {
		t.Run(nameOf(v), func(t *testing.T) {
			fill(v)
			var kept pb.JobState
			var names pb.StateNames
			v.toWire(&kept, &names)
			var s pb.JobState
			var called pb.StateNames
			if err := proto.Unmarshal(marshal(&kept), &s); err != nil {
				t.Fatal(err)
			}
			if err := proto.Unmarshal(marshal(&names), &called); err != nil {
				t.Fatal(err)
			}
			again := emptied(v)
			again.fromWire(&s, &stateReader{texts: called.GetTexts(), tries: called.GetTries()})
			stored, restored := reflect.ValueOf(v).Elem(), reflect.ValueOf(again).Elem()
			for i := range stored.NumField() {
				name := nameOf(v) + "." + stored.Type().Field(i).Name
				want, got := readable(stored.Field(i)), readable(restored.Field(i))
				if same := reflect.DeepEqual(want, got); same == (derived[name] != "") {
					t.Errorf("%s is %+v, and %+v after the wire; it is made anew of the others: %q", name, want, got, derived[name])
				}
			}
		})
	}
}

// TestEachTimeOfAValueFollowsTheClock: when the clock is set, each time that was read from it moves as far.
func TestEachTimeOfAValueFollowsTheClock(t *testing.T) {
	for _, v := range newValues() {
		t.Run(nameOf(v), func(t *testing.T) {
			fill(v)
			before := timesOf(reflect.ValueOf(v).Elem(), nameOf(v))
			v.shift(time.Hour)
			after := timesOf(reflect.ValueOf(v).Elem(), nameOf(v))
			for _, name := range slices.Sorted(maps.Keys(before)) {
				moved := after[name] - before[name]
				if foreign[name] == "" && moved != events.Time(time.Hour) || foreign[name] != "" && moved != 0 {
					t.Errorf("%s moves by %v when the clock does by an hour; it is of another clock: %q", name, time.Duration(moved), foreign[name])
				}
			}
		})
	}
}

// TestAJobIsMadeOfValues: each field of a Job belongs to a value or is listed in besides. Only values are tested here.
func TestAJobIsMadeOfValues(t *testing.T) {
	job := reflect.TypeFor[Job]()
	own := map[string]bool{}
	for _, v := range newValues() {
		own[nameOf(v)] = true
	}
	for i := range job.NumField() {
		name := job.Field(i).Name
		if !own[name] && !slices.Contains(besides, name) {
			t.Errorf("Job.%s belongs to no value: its encoding and its share in a step of the clock are not tested", name)
		}
	}
	for _, name := range besides {
		if _, ok := job.FieldByName(name); !ok {
			t.Errorf("Job.%s is no field", name)
		}
	}
}

// TestARecountMakesAllIndexesAnew: the earlier state of the completion indexes does not influence a recount.
func TestARecountMakesAllIndexesAnew(t *testing.T) {
	j := newJob(events.JobStream("job"), NewWorld())
	j.recount()
	anew := j.indexes
	set := int64(0)
	for i := range reflect.TypeFor[indexes]().NumField() {
		if f := reflect.ValueOf(&j.indexes).Elem().Field(i); f.Type() != reflect.TypeFor[[]policy.SuccessRule]() {
			fillIn(f, &set)
		}
	}
	j.rules = []policy.SuccessRule{{Some: true}}
	j.recount()
	if !reflect.DeepEqual(j.indexes, anew) {
		t.Errorf("after a recount %+v, want %+v", j.indexes, anew)
	}
}

// derived lists the fields that a restored Job computes from others.
var derived = map[string]string{
	"published.uncounted":  "listed in the base",
	"published.finished":   "a condition of the base",
	"published.failing":    "a condition of the base",
	"published.succeeding": "a condition of the base",
	"published.verdict":    "a condition of the base",
}

// foreign lists the times of another clock than ours: that of the API server.
var foreign = map[string]string{
	"published.Base.StartTime":           "the API server has it",
	"published.Base.CompletionTime":      "the API server has it",
	"published.Base.Conditions[].Since":  "the API server has it",
	"published.Base.Conditions[].Probed": "the API server has it",
	"published.verdict":                  "the API server has it",
	"published.asked":                    "the API server was asked to take it",
}

// besides lists the fields of the Job that belong to no value.
var besides = []string{
	"pods", "indexes", "Stream", "Ref", "Now", "Head", "woken", "Settings", "stating", "met", "Version",
	"Generation", "Created", "Deleted", "Gone", "Managed", "ManagedBy", "Parent", "Spec", "SpecAt", "Origin", "Terms",
	"unowned", "policies", "creates", "Ordinal", "Window", "marked", "claims",
	"Confirmed", "Look", "Group", "Recheck", "rivalry", "Retired", "first", "homes",
	"book",
}

// newValues returns the values of an empty Job.
func newValues() []value {
	values := newJob(events.JobStream("job"), NewWorld()).values()
	return values[:]
}

func nameOf(v value) string { return reflect.TypeOf(v).Elem().Name() }

// emptied returns the value of an empty Job that has the same type.
func emptied(v value) value {
	for _, other := range newValues() {
		if reflect.TypeOf(other) == reflect.TypeOf(v) {
			return other
		}
	}
	panic("no value " + nameOf(v))
}

// fill sets each field that is in reach of v. No two numbers are alike.
func fill(v value) {
	n := int64(0)
	fillIn(reflect.ValueOf(v).Elem(), &n)
}

func fillIn(v reflect.Value, n *int64) {
	v = open(v)
	*n++
	switch made := v.Addr().Interface().(type) {
	case *indexset.Set:
		*made = indexset.Parse(fmt.Sprint(*n), 1<<30)
		return
	case **Pod:
		*made = &Pod{}
		return
	case *events.Time:
		*made = events.Time(time.Duration(*n) * time.Second)
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Struct:
		for i := range v.NumField() {
			fillIn(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillIn(v.Index(0), n)
	case reflect.Array:
		for i := range v.Len() {
			fillIn(v.Index(i), n)
		}
	case reflect.Map:
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillIn(key, n)
		fillIn(elem, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, elem)
	default:
		panic(fmt.Sprintf("a value holds a %s: say here how it is set", v.Type()))
	}
}

// timesOf returns all times in reach of v, by their paths.
func timesOf(v reflect.Value, at string) map[string]events.Time {
	v = open(v)
	out := map[string]events.Time{}
	if v.Type() == reflect.TypeFor[events.Time]() {
		out[at] = events.Time(v.Int())
		return out
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			maps.Copy(out, timesOf(v.Field(i), at+"."+v.Type().Field(i).Name))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			maps.Copy(out, timesOf(v.Elem(), at))
		}
	case reflect.Slice:
		for i := range v.Len() {
			maps.Copy(out, timesOf(v.Index(i), at+"[]"))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			elem := reflect.New(v.Type().Elem()).Elem()
			elem.Set(v.MapIndex(key))
			maps.Copy(out, timesOf(elem, at+"[]"))
		}
	default:
	}
	return out
}

// open makes an unexported field readable and settable.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

func readable(v reflect.Value) any { return open(v).Interface() }
