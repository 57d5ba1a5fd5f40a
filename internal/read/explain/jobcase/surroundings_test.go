package jobcase

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestHowANodeWas: the newest that is known of a node when something befell a pod, if it was out of order by then and
// the pod was there.
func TestHowANodeWas(t *testing.T) {
	ready, bad := &events.NodeSeen{Name: "n", Ready: events.NodeReady},
		&events.NodeSeen{Name: "n", Ready: events.NodeReady, Cordoned: true}
	for _, row := range []struct {
		name    string
		nodes   []NodeAt
		created float64
		want    bool
		record  events.Sequence
	}{
		{"nothing is known", nil, 0, false, 0},
		{"it is well", []NodeAt{{whentest.Seen(1, 1), ready}}, 0, false, 0},
		{"it is out of order", []NodeAt{{whentest.Seen(1, 1), bad}}, 0, true, 1},
		{"it was, before", []NodeAt{{whentest.Seen(1, 1), bad}, {whentest.Seen(2, 2), ready}}, 0, false, 0},
		{"it is, within the 5 s that watches differ", []NodeAt{{whentest.Seen(1, 1), ready}, {whentest.Seen(2, 15), bad}}, 0,
			true, 2},
		{"it is, later", []NodeAt{{whentest.Seen(1, 1), ready}, {whentest.Seen(2, 15.5), bad}}, 0, false, 0},
		{"it is gone", []NodeAt{{whentest.Seen(1, 6), nil}}, 5, true, 1},
		{"it went as the pod was made", []NodeAt{{whentest.Seen(1, 5), nil}}, 5, true, 1},
		{"another of that name was gone", []NodeAt{{whentest.Seen(1, 4), nil}}, 5, false, 0},
		{"gone, and when the pod was made is not known", []NodeAt{{whentest.Seen(1, 4), nil}}, 0, true, 1},
	} {
		c := &Case{around: surroundings{nodes: map[string][]NodeAt{"n": row.nodes}}}
		x := &try.Try{Node: "n"}
		if row.created != 0 {
			x.Created = whentest.Sec(row.created)
		}
		if n, ok := c.NodeOf(x, whentest.Seen(9, 10)); ok != row.want || n.Record != row.record {
			t.Errorf("%s: %v, %t", row.name, n, ok)
		}
	}
}

// TestWhatIsWatched: the newest record before that says it, and what has to be given for more.
func TestWhatIsWatched(t *testing.T) {
	at := func(record events.Sequence, n events.Watching) LookAt {
		return LookAt{whentest.Seen(record, float64(record)), events.ClusterWatched{Namespaces: n}}
	}
	c := &Case{around: surroundings{looks: []LookAt{at(5, events.WatchingOff), at(10, events.WatchingDenied),
		at(20, events.WatchingOn)}}}
	for record, want := range map[events.Sequence]string{
		4: "a watch of namespaces", 5: "a watch of namespaces (--watch-cluster)",
		9:  "a watch of namespaces (--watch-cluster)",
		10: "the right to list and watch namespaces (deploy/watch-cluster)", 20: "a watch of namespaces",
	} {
		if got := c.Look(whentest.Seen(record, 0)).ToWatch(); got != want {
			t.Errorf("at %d: %s", record, got)
		}
	}
	var s surroundings
	s.learn(&events.Record{Header: events.Header{Sequence: 3, Time: whentest.Sec(3)},
		Facts: &events.ClusterWatched{Namespaces: events.WatchingOn}})
	s.learn(&events.Record{Header: events.Header{Sequence: 4, Time: whentest.Sec(4)}, Facts: &events.ControllerStarted{}})
	if len(s.looks) != 2 || s.looks[1].Namespaces != 0 || s.looks[1].Record != 4 {
		t.Errorf("behind a start: %+v", s.looks)
	}
}

// TestANamespaceThatIsDeleted: it takes a pod, or the Job, that is asked to go after it, within what clocks and
// watches differ.
func TestANamespaceThatIsDeleted(t *testing.T) {
	for _, row := range []struct {
		name           string
		deleted        float64 // 0 for not
		created, asked float64
		exact          bool
		jobDeleted     float64
		pod, job       bool
	}{
		{"it is not", 0, 1, 10, true, 0, false, false},
		{"before", 9, 1, 10, true, 10, true, true},
		{"5 s behind", 15, 1, 15, true, 0, true, true},
		{"more than 5 s behind", 15.5, 1, 15, true, 0, false, false},
		{"2 s behind the pod", 12, 1, 10, true, 0, true, true},
		{"3 s behind the pod", 13, 1, 10, true, 0, false, true},
		{"3 s behind the pod, which is not exact", 13, 1, 10, false, 0, true, true},
		{"a second behind the Job", 11, 1, 10, true, 10, true, true},
		{"two seconds behind the Job", 12, 1, 10, true, 10, true, false},
		{"a second before the Job was made", 5, 6, 10, true, 0, true, true},
		{"another of that name, before", 5, 7, 10, true, 0, false, false},
	} {
		f := &events.NamespaceSeen{Name: "ns"}
		if row.deleted != 0 {
			f.Deleted = whentest.Sec(row.deleted)
		}
		c := &Case{around: surroundings{namespaces: map[string][]NamespaceAt{"ns": {{whentest.Seen(1, 1), f}}}},
			deletedSeen: whentest.Seen(9, 10)}
		c.Job.Namespace, c.Job.Created = "ns", whentest.Recorded(row.created)
		if row.jobDeleted != 0 {
			c.JobDeleted = whentest.Sec(row.jobDeleted)
		}
		_, pod := c.NamespaceEnd(&try.Try{Asked: whentest.Sec(row.asked), AskedExact: row.exact}, whentest.Seen(9, 10))
		if _, job := c.NamespaceRemoval(); pod != row.pod || job != row.job {
			t.Errorf("%s: took the pod: %t, the Job: %t", row.name, pod, job)
		}
	}
}
