package projector

import (
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestSpecStoredInAStreamThatTheSnapshotHasLater: a snapshot's streams are as of different records. One stream may no
// longer use a spec that another one, as of an earlier record, comes to use only in the records after it. The newest
// file need not store that spec again.
func TestSpecStoredInAStreamThatTheSnapshotHasLater(t *testing.T) {
	a, b, c := events.JobStream("a"), events.JobStream("b"), events.JobStream("c")
	seq := events.Sequence(0)
	record := func(s events.Stream, kind events.Kind, facts events.Facts) events.Record {
		seq++
		return events.Record{Header: events.Header{Sequence: seq, Time: events.Time(seq), Stream: s, Kind: kind}, Facts: facts}
	}
	spec := func(s events.Stream, hash string) events.Record {
		return record(s, events.KindSpecStored, &events.JobSpec{Hash: hash, CompletionMode: hash, Policies: "policies"})
	}
	seen := func(s events.Stream, hash string, at events.Sequence) events.Record {
		return record(s, events.KindJobAdded, &events.JobSeen{Version: uint64(seq) + 1, Managed: true, Spec: hash, SpecAt: at})
	}
	log := []events.Record{
		record(a, events.KindPoliciesStored, &events.JobPolicies{Hash: "policies", SuccessPolicy: `{"rules":[]}`}),
		spec(a, "first"), seen(a, "first", 2), seen(b, "first", 2), seen(c, "first", 2),
		spec(a, "second"), seen(a, "second", 6), seen(c, "second", 6), spec(c, "third"), seen(c, "third", 9),
		seen(b, "second", 6), spec(a, "fourth"), seen(a, "fourth", 12),
		record(events.Controller, events.KindStateStored, &events.StoredState{}), // a file begins
	}
	whole := NewWorld()
	var snapshot []StreamAt
	keep := func(s events.Stream) {
		at := StreamAt{Stream: s, AsOf: whole.Head}
		if s == events.Controller {
			at.Facts = whole.ControllerState()
		} else {
			at.Facts, at.Names, _ = whole.StreamState(s)
		}
		snapshot = append(snapshot, at)
	}
	for i := range log {
		whole.Apply(&log[i])
		switch log[i].Sequence {
		case 5:
			keep(b)
			keep(c)
		case 13:
			keep(a)
		case 14:
			keep(events.Controller)
		}
	}
	recovered, from, err := Restore(snapshot)
	if err != nil {
		t.Fatal(err)
	}
	if from != 5 {
		t.Errorf("the records after %d are to be applied, want those after 5", from)
	}
	for i := range log {
		if log[i].Sequence > from {
			recovered.Apply(&log[i])
		}
	}
	recovered.Recovered()
	if spec := recovered.Job(b).Spec; spec.CompletionMode != "second" || spec.SuccessPolicy == "" {
		t.Errorf("b has the %s spec with the success policy %q, want the second with one", spec.CompletionMode, spec.SuccessPolicy)
	}
	if string(recovered.ControllerState()) != string(whole.ControllerState()) {
		t.Error("the specs that are known differ from those of a fold from the first record")
	}
}
