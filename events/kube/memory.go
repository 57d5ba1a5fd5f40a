package kube

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/store"
)

// maxJobs bounds the cached records per Job and per spec. When a cache is full it is cleared, and entries are read from
// the log again when needed.
const maxJobs = 20_000

// memory caches what Events need of Job specs, which are in earlier records.
type memory struct {
	log    store.Log
	specs  map[events.Stream]events.Sequence // by Job: the record with the content of its spec
	bySpec map[events.Sequence]specFacts     // by the record of a spec
}

// specFacts is the part of a spec that Events need. It is zero for a spec that the log no longer has.
type specFacts struct {
	strange     bool // this program does not know the completionMode (J-010)
	completions *int32
	scheduling  bool // the Job has a spec.scheduling
}

func newMemory(log store.Log) *memory {
	return &memory{log: log, specs: map[events.Stream]events.Sequence{}, bySpec: map[events.Sequence]specFacts{}}
}

// note updates the cache by a record. The caller calls it for every record, in order, after it has published the
// record's Events.
func (m *memory) note(rec *events.Record) {
	switch f := rec.Facts.(type) {
	case *events.JobSeen:
		if len(m.specs) >= maxJobs {
			clear(m.specs)
		}
		m.specs[rec.Stream] = f.SpecAt
	case *events.JobSpec:
		m.noteSpec(rec.Sequence, f)
	case *events.JobRetired, *events.JobGone:
		delete(m.specs, rec.Stream)
	}
}

func (m *memory) noteSpec(at events.Sequence, s *events.JobSpec) specFacts {
	if len(m.bySpec) >= maxJobs {
		clear(m.bySpec)
	}
	m.bySpec[at] = specFacts{
		strange:     s.CompletionMode != "" && s.CompletionMode != "NonIndexed" && s.CompletionMode != "Indexed",
		completions: s.Completions, scheduling: s.Scheduling != "",
	}
	return m.bySpec[at]
}

// spec returns what Events need of the spec in the record at. It returns zero for 0, which stands for an unknown
// record.
func (m *memory) spec(ctx context.Context, at events.Sequence) (specFacts, error) {
	if said, known := m.bySpec[at]; known || at == 0 {
		return said, nil
	}
	r, err := m.at(ctx, at)
	if err != nil || r == nil {
		return specFacts{}, err
	}
	if s, is := r.Facts.(*events.JobSpec); is {
		return m.noteSpec(at, s), nil
	}
	return specFacts{}, nil
}

// unknownMode reports whether this program does not know the completionMode of the observed Job (J-010).
func (m *memory) unknownMode(ctx context.Context, f *events.JobSeen) (bool, error) {
	s, err := m.spec(ctx, f.SpecAt)
	return s.strange, err
}

// succeeded returns the count in the Job's stored status before the record. It reads the Job's records backward, which
// is slow and rare: only for a Job that completes by a write without a change of that count.
func (m *memory) succeeded(ctx context.Context, rec *events.Record) (int32, error) {
	stored := map[events.CommandID]bool{}
	for r, err := range m.log.ReadStream(ctx, rec.Stream, rec.Sequence, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		if name, ok := stores(&r); ok {
			stored[name] = true
		}
		switch f := r.Facts.(type) {
		case *events.JobSeen:
			if f.Status != nil {
				return f.Status.Succeeded, nil
			}
		case *events.Decision:
			for place, c := range f.Commands() {
				w, ok := c.(*events.WriteStatus)
				if ok && w.Change.Succeeded != nil && stored[events.CommandID{Decided: r.Sequence, Place: uint32(place)}] {
					return *w.Change.Succeeded, nil
				}
			}
		}
	}
	return 0, nil
}

// stores returns the ID of the command that, according to the record, was carried out; ok is false for other records.
func stores(r *events.Record) (name events.CommandID, ok bool) {
	name, ok = follow.End(r)
	f, outcome := r.Facts.(*events.CommandEnded)
	return name, ok && (!outcome || f.Ending == events.Done)
}

// verdict returns the sentence of the decision that led to the outcome in the record; empty when the log no longer has
// it.
func (m *memory) verdict(ctx context.Context, rec *events.Record) (string, error) {
	name, ok := follow.End(rec)
	if !ok {
		return "", nil
	}
	decided, err := m.at(ctx, name.Decided)
	if err != nil || decided == nil {
		return "", err
	}
	return decided.Evidence.Sentence, nil
}

// completions returns spec.completions of the record's Job; nil when it is unset or unknown.
func (m *memory) completions(ctx context.Context, rec *events.Record) (*int32, error) {
	at, err := m.specAt(ctx, rec)
	if err != nil {
		return nil, err
	}
	s, err := m.spec(ctx, at)
	return s.completions, err
}

// specAt returns the record with the content of the Job's spec as of the given record; 0 when unknown.
func (m *memory) specAt(ctx context.Context, rec *events.Record) (events.Sequence, error) {
	if f, ok := rec.Facts.(*events.JobSeen); ok {
		return f.SpecAt, nil
	}
	if at := m.specs[rec.Stream]; at != 0 {
		return at, nil
	}
	for r, err := range m.log.ReadStream(ctx, rec.Stream, rec.Sequence, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			break
		}
		if err != nil {
			return 0, err
		}
		if f, ok := r.Facts.(*events.JobSeen); ok {
			return f.SpecAt, nil
		}
	}
	return 0, nil
}

// at returns one record; nil when the log no longer has it.
func (m *memory) at(ctx context.Context, at events.Sequence) (*events.Record, error) {
	for r, err := range m.log.Read(ctx, at) {
		if errors.Is(err, store.ErrPruned) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if r.Sequence == at {
			return &r, nil
		}
		break
	}
	return nil, nil
}
