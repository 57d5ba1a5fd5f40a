package kube

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/store"
)

// maxJobs bounds of how many Jobs and specs something is remembered. Beyond it all is forgotten, and read from the log
// again when it is needed.
const maxJobs = 20_000

// memory is what records that were read say of specs.
type memory struct {
	log    store.Log
	specs  map[events.Stream]events.Sequence // of a Job: the record with the content of its spec
	bySpec map[events.Sequence]specFacts     // by the record of a spec
}

// specFacts is what Events need of a spec. The zero value is of one that the log does not hold any more.
type specFacts struct {
	strange     bool // its completionMode is one that this program does not know (J-010)
	completions *int32
	scheduling  bool // it has a spec.scheduling
}

func newMemory(log store.Log) *memory {
	return &memory{log: log, specs: map[events.Stream]events.Sequence{}, bySpec: map[events.Sequence]specFacts{}}
}

// note remembers what later records may need. It is told every record, in order, after its Events were made.
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

// spec is what a record that stores a spec says; at is 0 where it is not known which one.
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

// unknownMode reports whether the Job that was seen has a completionMode that this program does not know (J-010).
func (m *memory) unknownMode(ctx context.Context, f *events.JobSeen) (bool, error) {
	s, err := m.spec(ctx, f.SpecAt)
	return s.strange, err
}

// succeeded is how many pods the Job's stored status counted when the record was made. It is asked for when a Job
// completes by a write that does not change their number, which is rare: the stream is read backward.
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

// stores names the command that a record says to have been carried out.
func stores(r *events.Record) (name events.CommandID, ok bool) {
	name, ok = follow.End(r)
	f, outcome := r.Facts.(*events.CommandEnded)
	return name, ok && (!outcome || f.Ending == events.Done)
}

// verdict is what the decision says of the Job, in one line, whose command the record ends; empty when the log does not
// hold it.
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

// completions is that of the spec of the Job that the record is about; nil when it is unset or not known.
func (m *memory) completions(ctx context.Context, rec *events.Record) (*int32, error) {
	at, err := m.specAt(ctx, rec)
	if err != nil {
		return nil, err
	}
	s, err := m.spec(ctx, at)
	return s.completions, err
}

// specAt is the record with the content of the spec that the Job had when it was last seen, or is seen by the record to
// have; 0 when that is not known.
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

// at is one record; nil when the log does not hold it any more.
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
