package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/recordjson"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Learn makes sure that world w knows the spec to which record r refers. The log stores equal specs once, often in the
// stream of another Job, which a reader of one Job does not see. Learn then reads the spec by calling record, and adds
// it to w. A pruned (deleted) spec is not an error, because the checkpoint of the Job has the spec.
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

// learnPolicies adds podFailurePolicy and successPolicy of a spec to w. They have a record of their own, which is one
// of the causes of r, the record of the spec.
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

// complete reads what account a lacks if the fold began at a checkpoint: the number of the first record, the newest
// decision, and failures. If the log is damaged there, it returns the damage as damaged.
func (a *CronAccount) complete(ctx context.Context, src Source) (damaged, err error) {
	if err := firstOf(ctx, src, a); err != nil {
		return nil, err
	}
	err = a.recall(ctx, src)
	if src.Beside(err) {
		return err, nil
	}
	return nil, err
}

// firstOf finds the first record of the CronJob with account a. It is not known if the fold began at a checkpoint.
func firstOf(ctx context.Context, src Source, a *CronAccount) error {
	for r, err := range src.ReadStream(ctx, a.Stream, 0, store.Forward) {
		if src.Beside(err) {
			break // if a record is damaged, the first record stays unknown
		}
		if err != nil {
			return fmt.Errorf("read the CronJob's first record: %w", err)
		}
		if a.First = 0; r.Previous == 0 {
			a.First = r.Sequence
		}
		break
	}
	return nil
}

// recall reads the newest decision and the newest failures of commands, if they are older than the first record of the
// fold. The checkpoint there has the numbers of their records. If these are pruned (deleted), the decision and the
// failures stay unknown.
func (a *CronAccount) recall(ctx context.Context, src Source) error {
	if a.recalled || a.told == nil {
		return nil
	}
	read := func(at events.Sequence) (*events.Record, error) {
		r, err := Record(ctx, src, at)
		if err == nil {
			err = projector.Readable(&r)
		}
		if err != nil {
			return nil, unlessPruned(err)
		}
		return &r, nil
	}
	var failed error
	if at := a.told.Decided; a.Decision == nil && at != 0 {
		a.Decision, failed = read(at)
	}
	for sort, at := range a.told.Failed {
		if a.Trouble[sort] != nil || at == 0 || a.Rewound != 0 {
			continue
		}
		says, err := a.failure(at, read)
		a.Trouble[sort], failed = says, errors.Join(failed, err)
	}
	a.recalled = failed == nil // if a read failed, the next answer tries again
	return failed
}

// failure returns the failure of a command that record at tells of. It calls read to read a record. It returns nil if
// the record is pruned (deleted).
func (a *CronAccount) failure(at events.Sequence, read func(events.Sequence) (*events.Record, error)) (*Failure, error) {
	r, err := read(at)
	if r == nil {
		return nil, err
	}
	// Learn names from this record and its decision alone: later, other objects may have these names.
	var names words.Names
	if f, ok := r.Facts.(*events.CommandEnded); ok {
		decided, err := read(f.Command.Decided)
		if err != nil {
			return nil, err
		}
		if decided != nil {
			names.Learn(decided)
		}
	}
	return &Failure{uint64(r.Sequence), recordjson.Instant(r.Time), names.Detail(r)}, nil
}
