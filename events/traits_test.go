package events_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/examples"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// TestEveryCommandOfTheSchemaHasItsRow walks the schema's commands. Each has a row in the table of traits, with words
// for people, and comes back from the wire as it was.
func TestEveryCommandOfTheSchemaHasItsRow(t *testing.T) {
	rows := map[protoreflect.FieldNumber]*events.Traits{}
	for traits := range events.AllTraits() {
		rows[protoreflect.FieldNumber(traits.Kind)] = traits
	}
	oneof := (&pb.Command{}).ProtoReflect().Descriptor().Oneofs().ByName("kind").Fields()
	phrases := map[string]string{}
	for i := range oneof.Len() {
		field := oneof.Get(i)
		row := rows[field.Number()]
		delete(rows, field.Number())
		if row == nil {
			t.Errorf("%s has no row in the table of traits", field.Name())
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			if row.Name != string(field.Message().Name()) || reflect.TypeOf(row.New()).Elem().Name() != row.Name || row.New().Traits() != row {
				t.Errorf("the row with number %d of the schema's %s is of a %s, which makes a %T", row.Kind, field.Message().Name(), row.Name, row.New())
			}
			checkWords(t, row, phrases)
			checkTarget(t, row)
			checkWire(t, row, field)
		})
	}
	for number, row := range rows {
		t.Errorf("the schema has no command with the number %d of %s", number, row.Name)
	}
}

func checkWords(t *testing.T, row *events.Traits, phrases map[string]string) {
	if row.Verb == "" || strings.Count(row.Many, "%") != 1 || !strings.Contains(row.Many, "%d") {
		t.Errorf("the words are %q for one and %q for several", row.Verb, row.Many)
	}
	words := strings.Fields(row.Verb)
	if phrase := events.Describe(row.New()); !strings.HasPrefix(phrase, words[0]) || !strings.HasPrefix(row.Many, words[0]) {
		t.Errorf("it is called %q, %q and %q", row.Verb, row.Many, phrase)
	} else if other := phrases[phrase]; other != "" {
		t.Errorf("%q is also what %s says", phrase, other)
	} else {
		phrases[phrase] = row.Name
	}
}

func checkTarget(t *testing.T, row *events.Traits) {
	c := examples.Command(row)
	if got := events.PodOf(c) != ""; got != (row.Target == events.TargetPod) {
		t.Errorf("it says which pod it is about: %t", got)
	}
	ordinal, _ := events.OrdinalOf(c)
	if got := ordinal != 0; got != (row.Target == events.TargetNewPod) {
		t.Errorf("it says which create it is about: %t", got)
	}
	called := 0
	events.Phrase(c, func(types.UID) string { called++; return "" })
	if got := called > 0; got != (row.Target == events.TargetPod) {
		t.Errorf("its words name the pod: %t", got)
	}
	if row.Target == 0 || row.Priority == 0 || events.PriorityOf(row.New()) == 0 {
		t.Error("it has no target, or no priority")
	}
	if sent := row.Target != events.TargetCommand; sent != (row.Call != "") || sent != (row.Sort != 0) || (!sent && row.Retried) {
		t.Errorf("it is sent: %t; its call is %q, its failures are of sort %d, and it stands: %t", sent, row.Call, row.Sort, row.Retried)
	}
}

func checkWire(t *testing.T, row *events.Traits, field protoreflect.FieldDescriptor) {
	for _, c := range []events.Command{row.New(), examples.Command(row)} {
		var free []string
		w := events.CommandToWire(c, &free)
		if got := w.ProtoReflect().WhichOneof(field.ContainingOneof()); got != field {
			t.Fatalf("it is written as %v", got)
		}
		stored, err := proto.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		var read pb.Command
		if err := proto.Unmarshal(stored, &read); err != nil {
			t.Fatal(err)
		}
		got, err := events.CommandFromWire(&read, free)
		if d := cmp.Diff(c, got); d != "" || err != nil {
			t.Errorf("it comes back as another (%v, -want +got):\n%s", err, d)
		}
	}
}

func TestPriorityOf(t *testing.T) {
	condition := func(kind string) []events.JobCondition { return []events.JobCondition{{Type: kind, Status: "True"}} }
	write := func(change events.StatusChange) events.Command { return &events.WriteStatus{Change: change} }
	rows := []struct {
		sentence string
		command  events.Command
		want     events.Priority
	}{
		{"a write that concludes", write(events.StatusChange{Conditions: append(condition("FailureTarget"), condition("Failed")...)}), events.PriorityFinish},
		{"a write of an interim condition", write(events.StatusChange{Conditions: condition("FailureTarget")}), events.PriorityUnblock},
		{"a write that lets finalizers go", write(events.StatusChange{AddFailed: []types.UID{"a"}}), events.PriorityUnblock},
		{"a write of completed indexes", write(events.StatusChange{CompleteIndexes: "0"}), events.PriorityUnblock},
		{"a write of counters only", write(events.StatusChange{Active: new(int32(1))}), events.PriorityProgress},
		{"a create", &events.CreatePod{}, events.PriorityBulk},
		{"a finalizer of a pod that is accounted for", &events.DropFinalizer{}, events.PriorityBulk},
		{"a finalizer of a pod that is then deleted", &events.DropFinalizer{ThenDelete: true}, events.PriorityUnblock},
		{"a deletion", &events.DeletePod{}, events.PriorityUnblock},
		{"a read", &events.ReadJob{}, events.PriorityUnblock},
	}
	for _, row := range rows {
		if got := events.PriorityOf(row.command); got != row.want {
			t.Errorf("%s: priority %d, want %d", row.sentence, got, row.want)
		}
	}
}
