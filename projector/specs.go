package projector

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/events"
)

// specs are the contents of Job specs by their hash: those that Jobs use, and those that the log's newest file stores, so
// that a CronJob's next Job refers to the spec which its last one stored.
type specs struct {
	byHash map[string]storedSpec
	since  events.Sequence // the newest file's first record. Invariant: a spec that an older file stores is one that a Job has
	keep   bool            // all are kept: a recovery may yet come to a record that refers to one
}

type storedSpec struct {
	spec     *events.JobSpec
	policies *Policies
	at       events.Sequence // the newest record that stores it
	used     int             // Jobs that have it
}

func (s *specs) store(spec *events.JobSpec, at events.Sequence) {
	known, ok := s.byHash[spec.Hash]
	if !ok {
		known.spec, known.policies = spec, PoliciesOf(spec)
	}
	known.at = at
	s.byHash[spec.Hash] = known
}

// use gives a Job the spec with that hash in place of the one it had; nil when the hash is not known.
func (s *specs) use(hash string, had *events.JobSpec) *events.JobSpec {
	known, ok := s.byHash[hash]
	if !ok {
		return nil
	}
	known.used++
	s.byHash[hash] = known
	if had != nil {
		s.release(had.Hash)
	}
	return known.spec
}

// release takes the spec with that hash from a Job that has it.
func (s *specs) release(hash string) {
	known := s.byHash[hash]
	known.used--
	s.byHash[hash] = known
	s.prune(hash, known)
}

// prune drops a spec that no Job has and that only an older file stores: there it is stored again on its next use anyway.
func (s *specs) prune(hash string, known storedSpec) {
	if !s.keep && known.used == 0 && known.at < s.since {
		delete(s.byHash, hash)
	}
}

// sorted are all of them, by the record that stores them.
func (s *specs) sorted() []storedSpec {
	out := make([]storedSpec, 0, len(s.byHash))
	for _, k := range s.byHash {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b storedSpec) int { return cmp.Compare(a.at, b.at) })
	return out
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
}
