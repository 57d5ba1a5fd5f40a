package jobcase

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhichSpecHeld: an edit holds from the record on that shows it.
func TestWhichSpecHeld(t *testing.T) {
	first, second, third := &events.JobSpec{Hash: "1"}, &events.JobSpec{Hash: "2"}, &events.JobSpec{Hash: "3"}
	c := &Case{Spec: third, Edits: []Edit{
		{At: whentest.Seen(10, 10), Before: first, After: second}, {At: whentest.Seen(20, 20), Before: second, After: third},
	}}
	for record, want := range map[events.Sequence]*events.JobSpec{1: first, 9: first, 10: second, 11: second,
		19: second, 20: third, 21: third} {
		if got := c.SpecAt(whentest.Seen(record, 0)); got != want {
			t.Errorf("as of record %d: %s, want %s", record, got.Hash, want.Hash)
		}
	}
	if got := (&Case{Spec: first}).SpecAt(whentest.Seen(1, 1)); got != first {
		t.Errorf("without edits: %v", got)
	}
}

// TestWhetherItWasSuspendedThen: from the record on that shows it, as it was first, and as it is.
func TestWhetherItWasSuspendedThen(t *testing.T) {
	on, off := &events.JobSpec{Suspend: true}, &events.JobSpec{}
	c := &Case{Spec: on, Edits: []Edit{
		{At: whentest.Seen(10, 10), Before: off, After: on}, {At: whentest.Seen(20, 20), Before: on, After: off},
		{At: whentest.Seen(30, 30), Before: off, After: on},
	}}
	for record, want := range map[events.Sequence]bool{1: false, 9: false, 10: true, 19: true, 20: false, 29: false,
		30: true, 31: true} {
		if got := c.SuspendedAt(whentest.Seen(record, 0)); got != want {
			t.Errorf("as of record %d it is suspended: %t", record, got)
		}
	}
	for spec, want := range map[*events.JobSpec]bool{on: true, off: false, nil: false} {
		c := &Case{Spec: spec}
		if c.FirstSuspended() != want || c.SuspendedAt(whentest.Seen(1, 1)) != want {
			t.Errorf("without edits %+v is not suspended: %t", spec, want)
		}
	}
}

// TestANamespaceThatWentWithTheJob: its deletion was asked for since the Job was there, in whole seconds. A Job of which
// only that is not known may have gone with it.
func TestANamespaceThatWentWithTheJob(t *testing.T) {
	for _, row := range []struct {
		created, deleted float64
		want             bool
	}{{10, 20, true}, {10, 10, true}, {10, 9, true}, {10, 8.9, false}, {10, 0, false}, {0, 20, true}, {0, 0, false}} {
		c, f := &Case{}, &events.NamespaceSeen{Name: "ns"}
		if row.created != 0 {
			c.Job.Created = whentest.Recorded(row.created)
		}
		if row.deleted != 0 {
			f.Deleted = whentest.Sec(row.deleted)
		}
		if got := c.within(f); got != row.want {
			t.Errorf("%+v: %t", row, got)
		}
	}
}

// TestANodeThatWentUnderAPod: its object was deleted while the pod was there and had not ended.
func TestANodeThatWentUnderAPod(t *testing.T) {
	seen := &events.NodeSeen{Name: "n"}
	for _, row := range []struct {
		nodes []NodeAt
		ended float64 // of the pod, which was seen in second 5; 0 for none
		want  events.Sequence
	}{
		{nil, 0, 0}, {[]NodeAt{{whentest.Seen(1, 6), seen}}, 0, 0}, {[]NodeAt{{whentest.Seen(1, 6), nil}}, 0, 1},
		{[]NodeAt{{whentest.Seen(1, 4.5), nil}}, 0, 0}, {[]NodeAt{{whentest.Seen(1, 5), nil}}, 0, 1},
		{[]NodeAt{{whentest.Seen(1, 8), nil}}, 8, 1}, {[]NodeAt{{whentest.Seen(1, 8.5), nil}}, 8, 0},
		{[]NodeAt{{whentest.Seen(1, 7), nil}}, 8, 1},
		{[]NodeAt{{whentest.Seen(1, 4), nil}, {whentest.Seen(2, 5), seen}, {whentest.Seen(3, 7), nil}}, 8, 3},
	} {
		c := &Case{around: surroundings{nodes: map[string][]NodeAt{"n": row.nodes}}}
		x := &try.Try{Node: "n", Seen: whentest.Seen(50, 5)}
		if row.ended != 0 {
			x.Ended = whentest.Seen(60, row.ended)
		}
		if got := c.NodeWent(x); got.Record != row.want {
			t.Errorf("%+v: %d", row, got.Record)
		}
	}
	c := &Case{around: surroundings{nodes: map[string][]NodeAt{"m": {{whentest.Seen(1, 6), nil}}}}}
	if got := c.NodeWent(&try.Try{Node: "n", Seen: whentest.Seen(50, 5)}); got.Record != 0 {
		t.Errorf("another node: %d", got.Record)
	}
}

// TestWhetherATryFollows: none does once the Job is over, its end is settled, or its deletion was asked for.
func TestWhetherATryFollows(t *testing.T) {
	for name, row := range map[string]struct {
		c    Case
		want bool
	}{
		"it goes on":         {Case{Job: history.Job{State: history.StateRunning}}, false},
		"its end is settled": {Case{Job: history.Job{State: history.StateRunning}, Settled: &Settling{}}, true},
		"its deletion is asked": {Case{Job: history.Job{State: history.StateRunning}, deletedSeen: whentest.Seen(9, 9)},
			true},
		"it is gone":      {Case{Job: history.Job{State: history.StateDeleted}, Gone: whentest.Seen(9, 9)}, true},
		"it has finished": {Case{Job: history.Job{State: history.StateFinished}}, true},
	} {
		if got := row.c.noneFollows(&try.Try{Index: events.NoIndex}); got != row.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
