package projector

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// specs holds the contents of Job specs by hash: specs that Jobs use, and specs that the log's newest file stores, so
// that a CronJob's next Job refers to the spec that its last one stored. The large parts of a spec (template,
// policies) are stored apart, once per file, so specs that differ only in a number share them.
type specs struct {
	byHash    map[string]storedSpec
	templates map[string]events.Sequence // redacted templates by hash: the record of the newest file that stores each
	policies  map[string]storedPolicies
	since     events.Sequence // first record of the newest file. Invariant: each spec that only an older file stores is in use
	keep      bool            // keep all: during a recovery, later records may refer to any
}

type storedSpec struct {
	spec     *events.JobSpec  // including policies
	policies *policy.Policies // nil while no Job uses the spec
	at       events.Sequence  // newest record that stores it; 0 if only an older file does
	used     int              // number of Jobs that use it
}

type storedPolicies struct {
	policies *events.JobPolicies
	at       events.Sequence // newest record that stores them; 0 if only an older file does
	used     int             // number of specs that use them
}

func newSpecs() specs {
	return specs{
		byHash: map[string]storedSpec{}, templates: map[string]events.Sequence{}, policies: map[string]storedPolicies{},
	}
}

// store adds a spec from a record or a stored state. It ignores a spec whose policies are unknown, since that cannot
// be folded.
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

// whole returns the spec with its shared policies; nil if they are unknown.
func (s *specs) whole(spec *events.JobSpec) *events.JobSpec {
	if spec.Policies == "" {
		return spec
	}
	known, ok := s.policies[spec.Policies]
	if !ok {
		if *spec == *spec.Apart() {
			return nil
		}
		known.policies = &events.JobPolicies{ // from a Job's stored state
			Hash: spec.Policies, Selector: spec.Selector, PodFailurePolicy: spec.PodFailurePolicy, SuccessPolicy: spec.SuccessPolicy,
		}
	}
	known.used++
	s.policies[spec.Policies] = known
	return spec.Whole(known.policies)
}

// restore adds the spec of a stored state. at is the record that stored the spec for the Job; if it is in an older
// file, the spec counts as not stored in the newest.
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

// use gives a Job the spec with that hash in place of had; nil if the hash is unknown.
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

// read parses the policies of a spec, or reuses those of had if they are equal: they may be large, and most changes
// are of other fields, such as parallelism.
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

// release ends a Job's use of the spec with that hash.
func (s *specs) release(hash string) {
	known := s.byHash[hash]
	if known.used--; known.used == 0 {
		known.policies = nil
	}
	s.byHash[hash] = known
	s.prune(hash, known)
}

// prune drops a spec that no Job uses and that only an older file stores. Its next use stores it again anyway.
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

// sorted returns all specs, sorted by the record that stores them, then by hash.
func (s *specs) sorted() []storedSpec {
	return slices.SortedFunc(maps.Values(s.byHash), func(a, b storedSpec) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.spec.Hash, b.spec.Hash))
	})
}

// sortedPolicies returns all policies, sorted by hash.
func (s *specs) sortedPolicies() []storedPolicies {
	return slices.SortedFunc(maps.Values(s.policies), func(a, b storedPolicies) int { return cmp.Compare(a.policies.Hash, b.policies.Hash) })
}

// filed begins a new file whose first record is first.
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
