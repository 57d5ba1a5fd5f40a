package specs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestWhichSpecsAreKept: the specs of Jobs, and the specs that the newest file stores.
func TestWhichSpecsAreKept(t *testing.T) {
	a, b := &events.JobSpec{Hash: "a"}, &events.JobSpec{Hash: "b"}
	for _, row := range []struct {
		name string
		do   func(*Specs)
		want string
	}{
		{"what the newest file stores, in the order of the records", func(s *Specs) {
			s.Filed(2)
			s.Store(b, 2)
			s.Store(a, 3)
		}, "b@2 a@3"},
		{"not what only an older one stores, and no Job has", func(s *Specs) {
			s.Store(a, 3)
			s.Store(b, 5)
			s.Filed(4)
		}, "b@5"},
		{"what it stores again", func(s *Specs) {
			s.Store(a, 3)
			s.Store(a, 5)
			s.Filed(4)
		}, "a@5"},
		{"what a Job has", func(s *Specs) {
			s.Store(a, 3)
			s.Use("a", nil)
			s.Filed(4)
		}, "a@0"},
		{"until it has it no longer", func(s *Specs) {
			s.Store(a, 3)
			s.Use("a", nil)
			s.Filed(4)
			s.Release("a")
		}, ""},
		{"though then, if the newest file stores it", func(s *Specs) {
			s.Store(a, 4)
			s.Use("a", nil)
			s.Filed(4)
			s.Release("a")
		}, "a@4"},
		{"while another Job has it", func(s *Specs) {
			s.Store(a, 3)
			s.Use("a", nil)
			s.Use("a", nil)
			s.Filed(4)
			s.Release("a")
		}, "a@0"},
		{"not when both have it no longer", func(s *Specs) {
			s.Store(a, 3)
			s.Use("a", nil)
			s.Use("a", nil)
			s.Filed(4)
			s.Release("a")
			s.Release("a")
		}, ""},
		{"a Job that has it has it once", func(s *Specs) {
			s.Store(a, 3)
			s.Use("a", s.Use("a", nil))
			s.Filed(4)
			s.Release("a")
		}, ""},
		{"a Job that gets another one has it no longer", func(s *Specs) {
			s.Store(a, 3)
			s.Store(b, 3)
			s.Use("b", s.Use("a", nil))
			s.Filed(4)
		}, "b@0"},
		{"but not by one that nobody knows", func(s *Specs) {
			s.Store(a, 3)
			s.Use("b", s.Use("a", nil))
			s.Filed(4)
		}, "a@0"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := New()
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
		do   func(*Specs)
		want string
	}{
		{"what the newest file stores", func(s *Specs) {
			s.Filed(2)
			s.templates["t"] = 2
			s.StorePolicies(policies, 3)
		}, "t@2 p@3"},
		{"not what only an older one stores", func(s *Specs) {
			s.templates["t"] = 2
			s.StorePolicies(policies, 3)
			s.Filed(4)
		}, ""},
		{"policies that a Job's spec has, though no record of the newest file stores them", func(s *Specs) {
			s.StorePolicies(policies, 3)
			s.Store(a, 4)
			s.Use("a", nil)
			s.Filed(5)
		}, "p@0 a@0"},
		{"and the file stores them again", func(s *Specs) {
			s.StorePolicies(policies, 3)
			s.Store(a, 4)
			s.Use("a", nil)
			s.Filed(5)
			s.StorePolicies(policies, 6)
		}, "p@6 a@0"},
		{"for as long as one has them", func(s *Specs) {
			s.StorePolicies(policies, 3)
			s.Store(a, 4)
			s.Store(b, 5)
			s.Use("b", s.Use("a", nil))
			s.Filed(6)
		}, "p@0 b@0"},
		{"and no longer, though it was stored more than once", func(s *Specs) {
			s.StorePolicies(policies, 3)
			s.Store(a, 4)
			s.Store(a, 5)
			s.Use("a", nil)
			s.Filed(6)
			s.Release("a")
		}, ""},
		{"those of a Job's stored state, which has them itself", func(s *Specs) {
			s.Filed(6)
			s.Store(a.Whole(policies), 4)
			s.Use("a", nil)
		}, "p@0 a@4"},
		{"a spec whose policies nobody knows is not known", func(s *Specs) {
			s.Store(a, 4)
		}, ""},
		{"all of them in a recovery, which may come to a record that refers to one", func(s *Specs) {
			s.Keep = true
			s.templates["t"] = 2
			s.StorePolicies(policies, 3)
			s.Store(a, 4)
			s.Filed(5)
		}, "t@2 p@3 a@4"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := New()
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
	s := New()
	s.StorePolicies(&events.JobPolicies{Hash: "p", SuccessPolicy: `{"rules":[{"succeededCount":1}]}`}, 1)
	one, two := int32(1), int32(2)
	s.Store(&events.JobSpec{Hash: "a", Policies: "p", Completions: &one, Parallelism: &one}, 2)
	s.Store(&events.JobSpec{Hash: "b", Policies: "p", Completions: &one, Parallelism: &two}, 3)
	s.Store(&events.JobSpec{Hash: "c", Policies: "p", Completions: &two, Parallelism: &two}, 4)
	a := s.Use("a", nil)
	read := s.byHash["a"].policies
	b := s.Use("b", a)
	if s.byHash["b"].policies != read || read == nil {
		t.Error("they are read again for another parallelism")
	}
	if s.byHash["a"].policies != nil {
		t.Error("what was read is kept for a spec that no Job has")
	}
	s.Use("c", b)
	if s.byHash["c"].policies == read {
		t.Error("they are not read again for other completions, on which they depend")
	}
}
