package intake

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// TestWhoEdited: the editor of a spec is the newest one that owns a changed field.
func TestWhoEdited(t *testing.T) {
	editor := func(name string, at events.Time, fields ...string) events.Editor {
		return events.Editor{Edit: events.Edit{Manager: name, Operation: "Update", Time: at}, Fields: fields}
	}
	one, two := int32(1), int32(2)
	was := &projector.Job{Spec: &events.JobSpec{Hash: "a", Parallelism: &one}}
	for _, row := range []struct {
		sentence string
		job      *projector.Job
		spec     events.JobSpec
		editors  []events.Editor
		want     string
	}{
		{"who made it", nil, events.JobSpec{Hash: "a"}, []events.Editor{editor("maker", 5, "template"), editor("later", 7, "suspend")}, "maker"},
		{"it was changed before it was seen", nil, events.JobSpec{Hash: "a"}, []events.Editor{editor("later", 7, "template")}, ""},
		{"who changed the field", was, events.JobSpec{Hash: "b", Parallelism: &two}, []events.Editor{
			editor("maker", 5, "template", "parallelism"), editor("scaler", 7, "parallelism"), editor("newest", 9, "suspend"),
		}, "scaler"},
		{"nobody is named", was, events.JobSpec{Hash: "b", Parallelism: &two}, []events.Editor{editor("maker", 5, "template")}, ""},
		{"nothing has changed", was, events.JobSpec{Hash: "a", Parallelism: &one}, []events.Editor{editor("maker", 5, "parallelism")}, ""},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			got := ""
			if e := editOf(row.job, &events.Observation{Facts: &events.JobSeen{Created: 5}, Spec: &row.spec, Editors: row.editors}); e != nil {
				got = e.Manager
			}
			if got != row.want {
				t.Errorf("it says %q, want %q", got, row.want)
			}
		})
	}
}
