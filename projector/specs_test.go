package projector

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestSpecStoredInAStreamThatTheSnapshotHasLater: a snapshot's streams are as of different records. One may have left a spec
// behind that another, as of an earlier record, comes to only in the records after it, though the newest file does not store it.
func TestSpecStoredInAStreamThatTheSnapshotHasLater(t *testing.T) {
	a, b, c := events.JobStream("a"), events.JobStream("b"), events.JobStream("c")
	seq := events.Sequence(0)
	record := func(s events.Stream, kind events.Kind, facts events.Facts) events.Record {
		seq++
		return events.Record{Header: events.Header{Sequence: seq, Time: events.Time(seq), Stream: s, Kind: kind}, Facts: facts}
	}
	spec := func(s events.Stream, hash string) events.Record {
		return record(s, events.KindSpecStored, &events.JobSpec{Hash: hash, CompletionMode: hash})
	}
	seen := func(s events.Stream, hash string, at events.Sequence) events.Record {
		return record(s, events.KindJobAdded, &events.JobSeen{Version: uint64(seq) + 1, Managed: true, Spec: hash, SpecAt: at})
	}
	log := []events.Record{
		record(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: events.DefaultSettings()}),
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
	if got := recovered.Job(b).Spec.CompletionMode; got != "second" {
		t.Errorf("b has the %s spec, want the second", got)
	}
	if string(recovered.ControllerState()) != string(whole.ControllerState()) {
		t.Error("the specs that are known differ from those of a fold from the first record")
	}
}

// TestWhichSpecsAreKept: those that a Job has, and those that the newest file stores.
func TestWhichSpecsAreKept(t *testing.T) {
	a, b := &events.JobSpec{Hash: "a"}, &events.JobSpec{Hash: "b"}
	for _, row := range []struct {
		name string
		do   func(*specs)
		want string
	}{
		{"what the newest file stores, in the order of the records", func(s *specs) {
			s.filed(2)
			s.store(b, 2)
			s.store(a, 3)
		}, "b@2 a@3"},
		{"not what only an older one stores, and no Job has", func(s *specs) {
			s.store(a, 3)
			s.store(b, 5)
			s.filed(4)
		}, "b@5"},
		{"what it stores again", func(s *specs) {
			s.store(a, 3)
			s.store(a, 5)
			s.filed(4)
		}, "a@5"},
		{"what a Job has", func(s *specs) {
			s.store(a, 3)
			s.use("a", nil)
			s.filed(4)
		}, "a@3"},
		{"until it has it no longer", func(s *specs) {
			s.store(a, 3)
			s.use("a", nil)
			s.filed(4)
			s.release("a")
		}, ""},
		{"though then, if the newest file stores it", func(s *specs) {
			s.store(a, 4)
			s.use("a", nil)
			s.filed(4)
			s.release("a")
		}, "a@4"},
		{"while another Job has it", func(s *specs) {
			s.store(a, 3)
			s.use("a", nil)
			s.use("a", nil)
			s.filed(4)
			s.release("a")
		}, "a@3"},
		{"not when both have it no longer", func(s *specs) {
			s.store(a, 3)
			s.use("a", nil)
			s.use("a", nil)
			s.filed(4)
			s.release("a")
			s.release("a")
		}, ""},
		{"a Job that has it has it once", func(s *specs) {
			s.store(a, 3)
			s.use("a", s.use("a", nil))
			s.filed(4)
			s.release("a")
		}, ""},
		{"a Job that gets another one has it no longer", func(s *specs) {
			s.store(a, 3)
			s.store(b, 3)
			s.use("b", s.use("a", nil))
			s.filed(4)
		}, "b@3"},
		{"but not by one that nobody knows", func(s *specs) {
			s.store(a, 3)
			s.use("b", s.use("a", nil))
			s.filed(4)
		}, "a@3"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := specs{byHash: map[string]storedSpec{}}
			row.do(&s)
			var kept []string
			for _, k := range s.sorted() {
				kept = append(kept, fmt.Sprintf("%s@%d", k.spec.Hash, k.at))
			}
			if got := strings.Join(kept, " "); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}
