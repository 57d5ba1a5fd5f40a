package try

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/projector"
)

// TestHearFromAKubelet: what shows that the kubelet of a pod's node has said something of it.
func TestHearFromAKubelet(t *testing.T) {
	for name, row := range map[string]struct {
		placed bool
		f      events.PodSeen
		ends   int
		want   bool
	}{
		"nothing":             {true, events.PodSeen{Phase: events.PodPending}, 0, false},
		"no phase":            {true, events.PodSeen{}, 0, false},
		"it runs":             {true, events.PodSeen{Phase: events.PodRunning}, 0, true},
		"a container ended":   {true, events.PodSeen{Phase: events.PodPending}, 1, true},
		"it makes containers": {true, events.PodSeen{Phase: events.PodPending, Waiting: "ContainerCreating"}, 0, true},
		"that word without a node": {false, events.PodSeen{Phase: events.PodPending, Waiting: "ContainerCreating"}, 0,
			false},
		"the scheduler's word": {true, events.PodSeen{Phase: events.PodPending, Waiting: "Unschedulable"}, 0, false},
		"a gate":               {true, events.PodSeen{Phase: events.PodPending, Waiting: "SchedulingGated"}, 0, false},
		"a condition of the kubelet": {true, events.PodSeen{Phase: events.PodPending,
			Conditions: []events.PodCondition{{Type: "Initialized"}}}, 0, true},
		"PodReadyToStartContainers": {true, events.PodSeen{Phase: events.PodPending, Conditions: []events.PodCondition{{Type: "PodReadyToStartContainers"}}}, 0, true},
		"Ready":                     {true, events.PodSeen{Phase: events.PodPending, Conditions: []events.PodCondition{{Type: "Ready"}}}, 0, true},
		"ContainersReady":           {true, events.PodSeen{Phase: events.PodPending, Conditions: []events.PodCondition{{Type: "ContainersReady"}}}, 0, true},
		"a condition of another one": {true, events.PodSeen{Phase: events.PodPending,
			Conditions: []events.PodCondition{{Type: "PodScheduled"}}}, 0, false},
	} {
		x := &Try{}
		if row.placed {
			x.Placed = whentest.Seen(1, 1)
		}
		r := &events.Record{Evidence: events.Evidence{Containers: make([]events.ContainerEnd, row.ends)}}
		if x.hear(r, &row.f); x.Heard != row.want {
			t.Errorf("%s: heard: %t", name, x.Heard)
		}
	}
}

// TestAStoredStateOfAPod: what it says is known of the pod, since the record of the state.
func TestAStoredStateOfAPod(t *testing.T) {
	r := &events.Record{Header: events.Header{Sequence: 7, Time: whentest.Sec(7)}}
	at := whentest.Seen(7, 7)
	for name, row := range map[string]struct {
		f                      events.PodSeen
		placed, started, ended explain.Mark
		disrupted              bool
	}{
		"pending":   {events.PodSeen{Phase: events.PodPending}, explain.Mark{}, explain.Mark{}, explain.Mark{}, false},
		"bound":     {events.PodSeen{Phase: events.PodPending, Scheduled: true}, at, explain.Mark{}, explain.Mark{}, false},
		"running":   {events.PodSeen{Phase: events.PodRunning, Scheduled: true}, at, at, explain.Mark{}, false},
		"succeeded": {events.PodSeen{Phase: events.PodSucceeded}, explain.Mark{}, explain.Mark{}, at, false},
		"disrupted": {events.PodSeen{Phase: events.PodFailed, Conditions: []events.PodCondition{{Type: "DisruptionTarget",
			Status: "True"}}}, explain.Mark{}, explain.Mark{}, at, true},
		"not": {events.PodSeen{Phase: events.PodFailed, Conditions: []events.PodCondition{{Type: "DisruptionTarget",
			Status: "False"}, {Type: "Ready", Status: "True"}}}, explain.Mark{}, explain.Mark{}, at, false},
	} {
		row.f.UID, row.f.Index, row.f.Created, row.f.Finished, row.f.Restarts = "u", 3, whentest.Sec(1), whentest.Sec(5), 2
		row.f.Exits = []events.ContainerExit{{Name: "main", Code: 4}}
		x := &Try{}
		x.Restore(r, &projector.Pod{PodSeen: row.f, Name: "demo-a", Node: "n"})
		if x.Placed != row.placed || x.Started != row.started || x.Ended != row.ended ||
			(x.Disrupted != nil) != row.disrupted || (x.DisruptedAt == at) != row.disrupted {
			t.Errorf("%s: %+v", name, x)
		}
		if !x.Stated || x.Pod != "demo-a" || x.Node != "n" || x.Index != 3 || x.Created != whentest.Sec(1) ||
			x.Finished != whentest.Sec(5) || x.Restarts != 2 || x.Phase != row.f.Phase ||
			x.Seen != at || x.Newest != at || x.Shown != at || len(x.Containers) != 1 || x.Containers[0].Name != "main" ||
			x.Containers[0].ExitCode != 4 {
			t.Errorf("%s: %+v", name, x)
		}
	}
}
