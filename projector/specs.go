package projector

import (
	"cmp"
	"slices"

	"github.com/jobledger/jobledger/events"
)

// specs are the contents of Job specs by their hash: those that Jobs use, and those that the log's newest file stores, so
// that a CronJob's next Job refers to the spec which its last one stored.
type specs struct{ byHash map[string]storedSpec }

type storedSpec struct {
	spec     *events.JobSpec
	policies *Policies
	at       events.Sequence // the newest record that stores it
	used     int             // Jobs that have it
}

func (s *specs) store(spec *events.JobSpec, at events.Sequence) {
	known, ok := s.byHash[spec.Hash]
	if !ok {
		known.spec, known.policies = spec, policiesOf(spec)
	}
	known.at = at
	s.byHash[spec.Hash] = known
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

// forget drops the specs that no Job uses. It is called when the log begins a file: specs of older files are stored again
// on their next use anyway.
func (s *specs) forget() {
	for hash, k := range s.byHash {
		if k.used == 0 {
			delete(s.byHash, hash)
		}
	}
}
