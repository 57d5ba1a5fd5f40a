package projector

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// specs are the contents of Job specs by their hash: those that Jobs use, and those that the log's newest file stores,
// so that a CronJob's next Job refers to the spec which its last one stored. What a spec has of large parts is stored
// apart, and likewise once per file: specs that differ in a number share it.
type specs struct {
	byHash    map[string]storedSpec
	templates map[string]events.Sequence // of redacted templates by hash: the record of the newest file that stores each
	policies  map[string]storedPolicies
	since     events.Sequence // the newest file's first record. Invariant: a spec that an older file stores is one that a Job has
	keep      bool            // all are kept: a recovery may yet come to a record that refers to one
}

type storedSpec struct {
	spec     *events.JobSpec  // whole
	policies *policy.Policies // nil while no Job has the spec
	at       events.Sequence  // the newest record that stores it; 0 when only an older file does
	used     int              // Jobs that have it
}

type storedPolicies struct {
	policies *events.JobPolicies
	at       events.Sequence // the newest record that stores them; 0 when only an older file does
	used     int             // specs that have them
}

func newSpecs() specs {
	return specs{
		byHash: map[string]storedSpec{}, templates: map[string]events.Sequence{}, policies: map[string]storedPolicies{},
	}
}

// store takes a spec as a record or a stored state has it. One whose policies are unknown is none: it cannot be folded.
func (s *specs) store(spec *events.JobSpec, at events.Sequence) {
	known, ok := s.byHash[spec.Hash]
	if !ok {
		if known.spec = s.whole(spec); known.spec == nil {
			return
		}
	}
	known.at = at
	s.byHash[spec.Hash] = known
}

// whole is a spec with its policies, which it then shares; nil when they are not known.
func (s *specs) whole(spec *events.JobSpec) *events.JobSpec {
	if spec.Policies == "" {
		return spec
	}
	known, ok := s.policies[spec.Policies]
	if !ok {
		if *spec == *spec.Apart() {
			return nil
		}
		known.policies = &events.JobPolicies{ // of a Job's stored state
			Hash: spec.Policies, Selector: spec.Selector, PodFailurePolicy: spec.PodFailurePolicy, SuccessPolicy: spec.SuccessPolicy,
		}
	}
	known.used++
	s.policies[spec.Policies] = known
	return spec.Whole(known.policies)
}

// restore takes the spec that a stored state has. at is the record that stored it for the Job; before the newest file
// that says no more than that an older file stores it.
func (s *specs) restore(spec *events.JobSpec, at events.Sequence) {
	if at < s.since {
		at = 0
	}
	s.store(spec, at)
}

func (s *specs) storePolicies(p *events.JobPolicies, at events.Sequence) {
	known, ok := s.policies[p.Hash]
	if !ok {
		known.policies = p
	}
	known.at = at
	s.policies[p.Hash] = known
}

// use gives a Job the spec with that hash in place of the one it had; nil when the hash is not known.
func (s *specs) use(hash string, had *events.JobSpec) *events.JobSpec {
	known, ok := s.byHash[hash]
	if !ok {
		return nil
	}
	if known.policies == nil {
		known.policies = s.read(known.spec, had)
	}
	known.used++
	s.byHash[hash] = known
	if had != nil {
		s.release(had.Hash)
	}
	return known.spec
}

// read reads the policies of a spec, unless the one that the Job had has the same: they may be large, and a change of
// parallelism is not one of them.
func (s *specs) read(spec, had *events.JobSpec) *policy.Policies {
	if had != nil && had.PodFailurePolicy == spec.PodFailurePolicy && had.SuccessPolicy == spec.SuccessPolicy &&
		sameNumber(had.Completions, spec.Completions) {
		if known := s.byHash[had.Hash].policies; known != nil {
			return known
		}
	}
	return policy.Of(spec)
}

func sameNumber(a, b *int32) bool { return a == b || (a != nil && b != nil && *a == *b) }

// release takes the spec with that hash from a Job that has it.
func (s *specs) release(hash string) {
	known := s.byHash[hash]
	if known.used--; known.used == 0 {
		known.policies = nil
	}
	s.byHash[hash] = known
	s.prune(hash, known)
}

// prune drops a spec that no Job has and that only an older file stores: there it is stored again on its next use
// anyway.
func (s *specs) prune(hash string, known storedSpec) {
	switch {
	case s.keep || known.at >= s.since:
		return
	case known.used > 0:
		known.at = 0
		s.byHash[hash] = known
		return
	}
	delete(s.byHash, hash)
	if known.spec.Policies != "" {
		p := s.policies[known.spec.Policies]
		p.used--
		s.policies[known.spec.Policies] = p
		s.prunePolicies(known.spec.Policies, p)
	}
}

func (s *specs) prunePolicies(hash string, known storedPolicies) {
	switch {
	case s.keep || known.at >= s.since:
	case known.used > 0:
		known.at = 0
		s.policies[hash] = known
	default:
		delete(s.policies, hash)
	}
}

// sorted are all of them, by the record that stores them, then by their hash.
func (s *specs) sorted() []storedSpec {
	return slices.SortedFunc(maps.Values(s.byHash), func(a, b storedSpec) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.spec.Hash, b.spec.Hash))
	})
}

// sortedPolicies are all policies, by their hash.
func (s *specs) sortedPolicies() []storedPolicies {
	return slices.SortedFunc(maps.Values(s.policies), func(a, b storedPolicies) int { return cmp.Compare(a.policies.Hash, b.policies.Hash) })
}

// filed begins a new file with that record.
func (s *specs) filed(first events.Sequence) {
	s.since = first
	s.pruneAll()
}

func (s *specs) pruneAll() {
	for hash, known := range s.byHash {
		s.prune(hash, known)
	}
	for hash, known := range s.policies {
		s.prunePolicies(hash, known)
	}
	if !s.keep {
		maps.DeleteFunc(s.templates, func(_ string, at events.Sequence) bool { return at < s.since })
	}
}
