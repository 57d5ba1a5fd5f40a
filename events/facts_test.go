package events_test

import (
	"cmp"
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
)

// TestEveryKindHasOneRowOfFacts takes an example of each kind. Exactly one row has that kind, and that row has its type
// and its object.
func TestEveryKindHasOneRowOfFacts(t *testing.T) {
	rows := map[events.Kind]*events.FactTraits{}
	types := map[*events.FactTraits]string{}
	for row := range events.AllFactTraits() {
		for _, k := range row.Kinds {
			if rows[k.Kind] != nil {
				t.Errorf("%s is a kind of %+v and of %+v", k.Kind, rows[k.Kind], row)
			}
			rows[k.Kind] = row
			if found, ok := events.KindNamed(k.Name); k.Name == "" || !ok || found != k.Kind || k.Kind.String() != k.Name {
				t.Errorf("the kind with the name %q is %s", k.Name, found)
			}
			if k.Kind.Critical() != k.Critical || k.Kind.Source() != k.Source || k.Kind.Facts() != row {
				t.Errorf("%s is not what its row says", k.Kind)
			}
		}
	}
	all := examples.Facts()
	for kind, f := range all {
		t.Run(kind.String(), func(t *testing.T) {
			row, name := events.TraitsOf(f), reflect.TypeOf(f).Elem().Name()
			if row != rows[kind] || types[row] != "" && types[row] != name {
				t.Fatalf("the facts are a %s, and their row, that of %s, is %+v", name, types[row], row)
			}
			types[row] = name
			checkObject(t, kind, row, f)
			_, begins := events.EpochIn(f)
			if want := kind == events.KindLogCreated || kind == events.KindEpochChanged; begins != want {
				t.Errorf("it begins an epoch: %t", begins)
			}
		})
		delete(rows, kind)
	}
	for kind, row := range rows {
		t.Errorf("no example has the kind %s of %+v", kind, row)
	}
}

// TestAKindThatIsNotKnownHasNoTraits: one between two kinds, and one above all.
func TestAKindThatIsNotKnownHasNoTraits(t *testing.T) {
	for _, k := range []events.Kind{0, 7, 9999} {
		if k.Known() || k.Critical() || k.Source() != 0 || k.Facts() != events.TraitsOf(&events.Unknown{}) {
			t.Errorf("%s: known %t, critical %t, source %d, %+v", k, k.Known(), k.Critical(), k.Source(), k.Facts())
		}
		if want := fmt.Sprintf("Kind(%d)", k); k.String() != want {
			t.Errorf("it is called %s, not %s", k, want)
		}
	}
}

func checkObject(t *testing.T, kind events.Kind, row *events.FactTraits, like events.Facts) {
	filled := reflect.New(reflect.TypeOf(like).Elem())
	for name, value := range map[string]any{"UID": types.UID("own"), "Job": types.UID("run"), "Version": uint64(7)} {
		if field := filled.Elem().FieldByName(name); field.IsValid() && field.Type() == reflect.TypeOf(value) {
			field.Set(reflect.ValueOf(value))
		}
	}
	f := filled.Interface().(events.Facts)
	o := events.Observation{Job: events.JobRef{UID: "named"}, Facts: f}
	object := o.Object()
	if object.Resource != row.About || (row.About != 0) != (object.UID != "") {
		t.Errorf("it is about %+v, and its row says %s", object, row.About)
	}
	if observed := kind.Source() == events.FromObject; observed != (row.About != 0) {
		t.Errorf("the kind is an observation of an object: %t", observed)
	}
	uid, ok := events.PodIn(f)
	if ok != (row.About == events.ObjectPod) || ok && uid != object.UID {
		t.Errorf("it observes the pod %q: %t", uid, ok)
	}
	if versioned := row.About != 0 && row.About < events.ObjectNode; versioned != (object.Version != 0) {
		t.Errorf("the version is %d", object.Version)
	}
	uids := map[string]types.UID{ // the others have their own
		"JobSeen": "named", "JobGone": "named", "CronJobSeen": "named", "CronJobGone": "named",
		"RunSeen": "run", "RunGone": "run",
	}
	record := events.Record{Header: events.Header{Stream: events.JobStream("named")}, Facts: f}
	if got := record.Object(); got != object {
		t.Errorf("a record of it is about %+v, and the observation about %+v", got, object)
	}
	if got, ok := record.Subject(); got != object || ok != (object.UID == "named") {
		t.Errorf("a record of it observes the subject of its stream: %t, %+v", ok, got)
	}
	if want := cmp.Or(uids[reflect.TypeOf(like).Elem().Name()], "own"); row.About != 0 && object.UID != want {
		t.Errorf("it is about %s, not %s", object.UID, want)
	}
}
