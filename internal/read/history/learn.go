package history

import (
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Learn prepares world w for record r when w has not folded the whole log. Equal specs are stored once, often in
// another Job's stream: if r refers to a spec that w does not know, Learn reads it with record and adds it to w. A
// pruned spec is no error: the stored state of its Job has it.
func Learn(w *projector.World, r *events.Record, record func(events.Sequence) (events.Record, error)) error {
	if w.Check(r) == nil {
		return nil
	}
	read := record
	record = func(at events.Sequence) (events.Record, error) {
		r, err := read(at)
		if err == nil {
			err = projector.Readable(&r)
		}
		return r, err
	}
	switch f := r.Facts.(type) {
	case *events.JobSeen:
		if f.SpecAt == 0 {
			return nil
		}
		spec, err := record(f.SpecAt)
		if err != nil {
			return unlessPruned(fmt.Errorf("record %d says that its spec is in record %d: %w", r.Sequence, f.SpecAt, err))
		}
		if s, ok := spec.Facts.(*events.JobSpec); ok {
			err = learnPolicies(w, &spec, s, record)
		}
		w.Learn(&spec)
		return err
	case *events.JobSpec:
		return learnPolicies(w, r, f, record)
	}
	return nil
}

// learnPolicies adds the policies of a spec: one of the causes of its record has them.
func learnPolicies(w *projector.World, r *events.Record, spec *events.JobSpec, record func(events.Sequence) (events.Record, error)) error {
	if spec.Policies == "" {
		return nil
	}
	for _, at := range r.Causes {
		policies, err := record(at)
		if err != nil {
			return unlessPruned(fmt.Errorf("record %d has the cause %d: %w", r.Sequence, at, err))
		}
		if policies.Kind == events.KindPoliciesStored {
			w.Learn(&policies)
		}
	}
	return nil
}

func unlessPruned(err error) error {
	if errors.Is(err, store.ErrPruned) {
		return nil
	}
	return err
}
