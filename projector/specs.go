package projector

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/events"
)

// idleSpecs is how many stored specs are remembered that no Job uses: enough for the CronJobs of a large cluster, whose
// next Job then refers to the spec that its last one stored.
const idleSpecs = 4096

// specs are the contents of Job specs by their hash.
type specs struct {
	byHash map[string]storedSpec
	idle   int
}

type storedSpec struct {
	spec *events.JobSpec
	at   events.Sequence // the newest record that stores it
	used int             // Jobs that have it
}

func (s *specs) store(spec *events.JobSpec, at events.Sequence) {
	known, ok := s.byHash[spec.Hash]
	if !ok {
		known.spec = spec
		s.idle++
	}
	known.at = at
	s.byHash[spec.Hash] = known
	s.trim()
}

// use gives a Job the spec with that hash in place of the one it had; nil when the hash is not known.
func (s *specs) use(hash string, had *events.JobSpec) *events.JobSpec {
	if had != nil && had.Hash == hash {
		return had
	}
	known, ok := s.byHash[hash]
	if !ok {
		return nil
	}
	if known.used == 0 {
		s.idle--
	}
	known.used++
	s.byHash[hash] = known
	if had != nil {
		s.release(had.Hash)
	}
	return known.spec
}

func (s *specs) release(hash string) {
	known, ok := s.byHash[hash]
	if !ok || known.used == 0 {
		return
	}
	known.used--
	s.byHash[hash] = known
	if known.used == 0 {
		s.idle++
		s.trim()
	}
}

// sorted are all of them, by the record that stores them.
func (s *specs) sorted() []storedSpec {
	out := make([]storedSpec, 0, len(s.byHash))
	for _, k := range s.byHash {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b storedSpec) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.spec.Hash, b.spec.Hash))
	})
	return out
}

// trim forgets the older half of the specs that no Job uses, once there are too many.
func (s *specs) trim() {
	if s.idle <= idleSpecs {
		return
	}
	var idle []storedSpec
	for _, k := range s.byHash {
		if k.used == 0 {
			idle = append(idle, k)
		}
	}
	slices.SortFunc(idle, func(a, b storedSpec) int { return cmp.Compare(a.at, b.at) })
	for _, k := range idle[:len(idle)/2] {
		delete(s.byHash, k.spec.Hash)
	}
	s.idle -= len(idle) / 2
}
