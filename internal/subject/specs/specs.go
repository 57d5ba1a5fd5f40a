package specs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Specs holds the contents of Job specs by hash: the specs that Jobs use, and those that the log's newest file stores.
// So the next Job of a CronJob refers to the spec record of the last Job. The large parts of a spec (template,
// policies) are stored separately, once per file, so that specs which differ only in a number share them.
type Specs struct {
	byHash    map[string]storedSpec
	templates map[string]events.Sequence // by hash of the redacted template: record of the newest file that stores it
	policies  map[string]storedPolicies
	since     events.Sequence // first record of the newest file. Invariant: specs that only older files have are in use
	Keep      bool            // keep all specs: during a recovery, later records may refer to any of them
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

// New returns Specs without any specs.
func New() Specs {
	return Specs{
		byHash: map[string]storedSpec{}, templates: map[string]events.Sequence{}, policies: map[string]storedPolicies{},
	}
}

// Store adds a spec that the record at stores, or that is part of a stored state. It ignores a spec whose policies are
// unknown: without them the spec is not complete.
func (s *Specs) Store(spec *events.JobSpec, at events.Sequence) {
	known, ok := s.byHash[spec.Hash]
	if !ok {
		if known.spec = s.whole(spec); known.spec == nil {
			return
		}
	}
	known.at = at
	s.byHash[spec.Hash] = known
}

// whole returns the spec completed by its policies, which are stored apart; nil if they are unknown.
func (s *Specs) whole(spec *events.JobSpec) *events.JobSpec {
	if spec.Policies == "" {
		return spec
	}
	known, ok := s.policies[spec.Policies]
	if !ok {
		if *spec == *spec.Apart() {
			return nil
		}
		known.policies = &events.JobPolicies{ // the spec is from a Job's stored state, and has its policies
			Hash: spec.Policies, Selector: spec.Selector, PodFailurePolicy: spec.PodFailurePolicy, SuccessPolicy: spec.SuccessPolicy,
		}
	}
	known.used++
	s.policies[spec.Policies] = known
	return spec.Whole(known.policies)
}

// Restore adds the spec of a stored state, unless it is known. at is the record that stored the spec for the Job. If
// that record is in an older file, the spec counts as not stored in the newest file.
func (s *Specs) Restore(spec *events.JobSpec, at events.Sequence) {
	if _, known := s.byHash[spec.Hash]; known {
		return
	}
	if at < s.since {
		at = 0
	}
	s.Store(spec, at)
}

// StorePolicies adds policies that the record at stores.
func (s *Specs) StorePolicies(p *events.JobPolicies, at events.Sequence) {
	known, ok := s.policies[p.Hash]
	if !ok {
		known.policies = p
	}
	known.at = at
	s.policies[p.Hash] = known
}

// Use returns the spec with that hash, for a Job that had the spec had before (nil for none); nil if the hash is
// unknown. It counts the Job as a user of the new spec, and no longer of the old one.
func (s *Specs) Use(hash string, had *events.JobSpec) *events.JobSpec {
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
		s.Release(had.Hash)
	}
	return known.spec
}

// read parses the policies of a spec. It reuses the parsed policies of had if these are the same: policies may be
// large, and most changes are of other fields, such as parallelism.
func (s *Specs) read(spec, had *events.JobSpec) *policy.Policies {
	if had != nil && had.PodFailurePolicy == spec.PodFailurePolicy && had.SuccessPolicy == spec.SuccessPolicy &&
		sameNumber(had.Completions, spec.Completions) {
		if known := s.byHash[had.Hash].policies; known != nil {
			return known
		}
	}
	return policy.Of(spec)
}

func sameNumber(a, b *int32) bool { return a == b || (a != nil && b != nil && *a == *b) }

// Release notes that a Job does not use the spec with that hash any more.
func (s *Specs) Release(hash string) {
	known := s.byHash[hash]
	if known.used--; known.used == 0 {
		known.policies = nil
	}
	s.byHash[hash] = known
	s.prune(hash, known)
}

// prune drops a spec that no Job uses and that only an older file stores. A later record that names this spec stores it
// again anyway.
func (s *Specs) prune(hash string, known storedSpec) {
	switch {
	case s.Keep || known.at >= s.since:
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

func (s *Specs) prunePolicies(hash string, known storedPolicies) {
	switch {
	case s.Keep || known.at >= s.since:
	case known.used > 0:
		known.at = 0
		s.policies[hash] = known
	default:
		delete(s.policies, hash)
	}
}

// sorted returns all specs, sorted by the record that stores them, then by hash.
func (s *Specs) sorted() []storedSpec {
	return slices.SortedFunc(maps.Values(s.byHash), func(a, b storedSpec) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.spec.Hash, b.spec.Hash))
	})
}

// sortedPolicies returns all policies, sorted by hash.
func (s *Specs) sortedPolicies() []storedPolicies {
	return slices.SortedFunc(maps.Values(s.policies), func(a, b storedPolicies) int { return cmp.Compare(a.policies.Hash, b.policies.Hash) })
}

// Filed handles the beginning of a new file of the log, whose first record is first: it stores no spec yet.
func (s *Specs) Filed(first events.Sequence) {
	s.since = first
	s.PruneAll()
}

// PruneAll drops the specs and policies that no Job uses and that only an older file stores.
func (s *Specs) PruneAll() {
	for hash, known := range s.byHash {
		s.prune(hash, known)
	}
	for hash, known := range s.policies {
		s.prunePolicies(hash, known)
	}
	if !s.Keep {
		maps.DeleteFunc(s.templates, func(_ string, at events.Sequence) bool { return at < s.since })
	}
}

// Spec returns the spec with that hash; nil if it is unknown.
func (s *Specs) Spec(hash string) *events.JobSpec { return s.byHash[hash].spec }

// Policies returns the policies of a spec that a Job uses.
func (s *Specs) Policies(hash string) *policy.Policies { return s.byHash[hash].policies }

// KnowsPolicies reports whether policies with that hash are known.
func (s *Specs) KnowsPolicies(hash string) bool {
	_, known := s.policies[hash]
	return known
}

// At returns the newest record that stores the spec with that hash; 0 if the newest file has none.
func (s *Specs) At(hash string) events.Sequence { return s.byHash[hash].at }

// TemplateAt returns the newest record that stores the redacted template with that hash; 0 if the newest file has none.
func (s *Specs) TemplateAt(hash string) events.Sequence { return s.templates[hash] }

// PoliciesAt returns the newest record that stores the policies with that hash; 0 if the newest file has none.
func (s *Specs) PoliciesAt(hash string) events.Sequence { return s.policies[hash].at }

// StoreTemplate notes that the record at stores the redacted template with that hash.
func (s *Specs) StoreTemplate(hash string, at events.Sequence) { s.templates[hash] = at }

// Since returns the first record of the log's newest file.
func (s *Specs) Since() events.Sequence { return s.since }

// Len returns the number of specs.
func (s *Specs) Len() int { return len(s.byHash) }

// ToWire encodes all specs and their parts.
func (s *Specs) ToWire(to *pb.WorldState) {
	for _, k := range s.sorted() {
		to.Specs = append(to.Specs, &pb.SpecState{Spec: events.SpecToWire(k.spec.Apart()), At: uint64(k.at)})
	}
	for _, k := range s.sortedPolicies() {
		to.Policies = append(to.Policies, &pb.PoliciesState{Policies: events.PoliciesToWire(k.policies), At: uint64(k.at)})
	}
	for _, hash := range slices.Sorted(maps.Keys(s.templates)) {
		to.Templates = append(to.Templates, &pb.TemplateState{Hash: hash, At: uint64(s.templates[hash])})
	}
}

// FromWire restores what ToWire encoded: the first record of the newest file, and from a snapshot also the specs.
func (s *Specs) FromWire(from *pb.WorldState) {
	s.since = events.Sequence(from.GetFiled())
	for _, k := range from.GetTemplates() {
		s.templates[k.GetHash()] = events.Sequence(k.GetAt())
	}
	for _, k := range from.GetPolicies() { // before the specs that use them
		s.StorePolicies(events.PoliciesFromWire(k.GetPolicies()), events.Sequence(k.GetAt()))
	}
	for _, k := range from.GetSpecs() {
		s.Store(events.SpecFromWire(k.GetSpec()), events.Sequence(k.GetAt()))
	}
}
