package words

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestNamesOfAJobThatIsOverAreForgotten: somebody may follow a log for months.
func TestNamesOfAJobThatIsOverAreForgotten(t *testing.T) {
	for sentence, after := range map[string][]events.Facts{
		"a create that was withdrawn": {
			&events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.CreatePod{Ordinal: 1}}}}},
			&events.JobGone{},
			&events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.Withdraw{Command: events.CommandID{Decided: 2}}}}}},
			&events.CommandEnded{Command: events.CommandID{Decided: 2}, Ending: events.Withdrawn},
		},
		"a finalizer of a pod that is gone": {
			&events.PodSeen{UID: "p"},
			&events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.DropFinalizer{Pod: "p"}}}}},
			&events.JobGone{},
			&events.PodGone{UID: "p"},
			&events.CommandEnded{Command: events.CommandID{Decided: 3}, Ending: events.Refused, Class: events.RefusedNotFound},
		},
	} {
		var n Names
		for i, f := range append([]events.Facts{&events.JobSeen{}}, after...) {
			r := &events.Record{Header: events.Header{Sequence: events.Sequence(i + 1), Stream: namedJob}, Facts: f}
			r.Evidence.Name = "demo"
			n.Learn(r)
			n.Forget(r)
		}
		if len(n.streams) > 0 {
			t.Errorf("%s: kept %+v", sentence, *n.streams[namedJob])
		}
	}
}

var namedJob = events.JobStream("uid")
