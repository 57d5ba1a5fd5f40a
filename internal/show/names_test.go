package show

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestNamesOfAJobThatIsOverAreForgotten: somebody may follow a log for months.
func TestNamesOfAJobThatIsOverAreForgotten(t *testing.T) {
	for sentence, after := range map[string][]events.Facts{
		"a create that was withdrawn": {
			&events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.CreatePod{Ordinal: 1}}}}},
			&events.JobGone{},
			&events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.Withdraw{Command: events.CommandName{Decided: 2}}}}}},
			&events.CommandEnded{Command: events.CommandName{Decided: 2}, Ending: events.Withdrawn},
		},
		"a finalizer of a pod that is gone": {
			&events.PodSeen{UID: "p"},
			&events.Decision{Steps: []events.Step{{Commands: []events.Command{&events.DropFinalizer{Pod: "p"}}}}},
			&events.JobGone{},
			&events.PodGone{UID: "p"},
			&events.CommandEnded{Command: events.CommandName{Decided: 3}, Ending: events.Refused, Class: events.RefusedNotFound},
		},
	} {
		var n Names
		for i, f := range append([]events.Facts{&events.JobSeen{}}, after...) {
			r := &events.Record{Header: events.Header{Sequence: events.Sequence(i + 1), Stream: toldJob}, Facts: f}
			r.Evidence.Name = "demo"
			n.Learn(r)
			n.Forget(r)
		}
		if len(n.streams) > 0 {
			t.Errorf("%s: kept %+v", sentence, *n.streams[toldJob])
		}
	}
}

// TestWhatIsInFlightIsShown: adoptions and releases, and commands about a group, as all others (J-175, J-242).
func TestWhatIsInFlightIsShown(t *testing.T) {
	x := newTold(2, 2)
	x.job(&events.JobStatus{Ready: events.Unset, Terminating: events.Unset})
	x.add(toldJob, events.KindPodAdded, &events.PodSeen{
		UID: "p", Version: 5, Phase: events.PodRunning, Owner: "uid", Index: 0, Ordinal: 1,
	}, events.Evidence{Namespace: "ns", Name: "demo-0"})
	x.decide(&events.ReleasePod{Pod: "p", Version: 5})
	x.decide(&events.CreateWorkload{MinCount: 2})
	page := x.says(t, 0)
	for _, what := range []string{"release pod demo-0, decided", "create Workload for a gang of 2, decided"} {
		if !strings.Contains(page, what) {
			t.Errorf("it is not shown that it is in flight: %s\n%s", what, page)
		}
	}
}
