package projector

import (
	"fmt"
	"strings"
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

// TestWhichSpecsAreKept: the specs of Jobs, and the specs that the newest file stores.
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
		}, "a@0"},
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
		}, "a@0"},
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
		}, "b@0"},
		{"but not by one that nobody knows", func(s *specs) {
			s.store(a, 3)
			s.use("b", s.use("a", nil))
			s.filed(4)
		}, "a@0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSpecs()
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

// TestWhichPartsOfSpecsAreKept: templates and policies that the newest file stores, and policies of a spec that is
// kept.
func TestWhichPartsOfSpecsAreKept(t *testing.T) {
	policies := &events.JobPolicies{Hash: "p", SuccessPolicy: `{"rules":[]}`}
	a, b := &events.JobSpec{Hash: "a", Policies: "p"}, &events.JobSpec{Hash: "b", Policies: "p"}
	for _, row := range []struct {
		name string
		do   func(*specs)
		want string
	}{
		{"what the newest file stores", func(s *specs) {
			s.filed(2)
			s.templates["t"] = 2
			s.storePolicies(policies, 3)
		}, "t@2 p@3"},
		{"not what only an older one stores", func(s *specs) {
			s.templates["t"] = 2
			s.storePolicies(policies, 3)
			s.filed(4)
		}, ""},
		{"policies that a Job's spec has, though no record of the newest file stores them", func(s *specs) {
			s.storePolicies(policies, 3)
			s.store(a, 4)
			s.use("a", nil)
			s.filed(5)
		}, "p@0 a@0"},
		{"and the file stores them again", func(s *specs) {
			s.storePolicies(policies, 3)
			s.store(a, 4)
			s.use("a", nil)
			s.filed(5)
			s.storePolicies(policies, 6)
		}, "p@6 a@0"},
		{"for as long as one has them", func(s *specs) {
			s.storePolicies(policies, 3)
			s.store(a, 4)
			s.store(b, 5)
			s.use("b", s.use("a", nil))
			s.filed(6)
		}, "p@0 b@0"},
		{"and no longer, though it was stored more than once", func(s *specs) {
			s.storePolicies(policies, 3)
			s.store(a, 4)
			s.store(a, 5)
			s.use("a", nil)
			s.filed(6)
			s.release("a")
		}, ""},
		{"those of a Job's stored state, which has them itself", func(s *specs) {
			s.filed(6)
			s.store(a.Whole(policies), 4)
			s.use("a", nil)
		}, "p@0 a@4"},
		{"a spec whose policies nobody knows is not known", func(s *specs) {
			s.store(a, 4)
		}, ""},
		{"all of them in a recovery, which may come to a record that refers to one", func(s *specs) {
			s.keep = true
			s.templates["t"] = 2
			s.storePolicies(policies, 3)
			s.store(a, 4)
			s.filed(5)
		}, "t@2 p@3 a@4"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSpecs()
			row.do(&s)
			var kept []string
			for hash, at := range s.templates {
				kept = append(kept, fmt.Sprintf("%s@%d", hash, at))
			}
			for _, k := range s.sortedPolicies() {
				kept = append(kept, fmt.Sprintf("%s@%d", k.policies.Hash, k.at))
			}
			for _, k := range s.sorted() {
				kept = append(kept, fmt.Sprintf("%s@%d", k.spec.Hash, k.at))
				if k.spec.SuccessPolicy != policies.SuccessPolicy {
					t.Errorf("spec %s has the success policy %q", k.spec.Hash, k.spec.SuccessPolicy)
				}
			}
			if got := strings.Join(kept, " "); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

// TestPoliciesAreReadOnce: policies may be large. They are not read again when only the parallelism changes, which may
// happen each second. They are not kept for specs without a Job.
func TestPoliciesAreReadOnce(t *testing.T) {
	s := newSpecs()
	s.storePolicies(&events.JobPolicies{Hash: "p", SuccessPolicy: `{"rules":[{"succeededCount":1}]}`}, 1)
	one, two := int32(1), int32(2)
	s.store(&events.JobSpec{Hash: "a", Policies: "p", Completions: &one, Parallelism: &one}, 2)
	s.store(&events.JobSpec{Hash: "b", Policies: "p", Completions: &one, Parallelism: &two}, 3)
	s.store(&events.JobSpec{Hash: "c", Policies: "p", Completions: &two, Parallelism: &two}, 4)
	a := s.use("a", nil)
	read := s.byHash["a"].policies
	b := s.use("b", a)
	if s.byHash["b"].policies != read || read == nil {
		t.Error("they are read again for another parallelism")
	}
	if s.byHash["a"].policies != nil {
		t.Error("what was read is kept for a spec that no Job has")
	}
	s.use("c", b)
	if s.byHash["c"].policies == read {
		t.Error("they are not read again for other completions, on which they depend")
	}
}
