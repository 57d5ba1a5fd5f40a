package loop

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Fold keeps up to date the state that is computed ("folded") from a log that another process may still write. A
// standby has one. At each record its World equals the state that a process would compute after a restart at that
// record. So a Loop that takes over the World writes what it would write after a restart.
//
//	fold, err := loop.NewFold(ctx, log)  // up to the log's current end
//	err = fold.Follow(ctx, log)          // again, whenever the log has grown
//	l := loop.New(loop.Config{Log: log, World: fold.World(), …})
//
// A Fold is not safe for concurrent use. It belongs to one log: after the cluster or the log went back to an earlier
// state, make a new Fold.
type Fold struct {
	world *projector.World
	err   error // why a record could not be folded; all later calls return it
}

// NewFold returns a Fold with the state after the log's last durable record. It starts from the newest snapshot or from
// the newest self-contained file (readable without older ones), whichever is later. It returns the same errors as
// Follow.
func NewFold(ctx context.Context, log store.Reader) (*Fold, error) {
	world, from, err := restored(ctx, log)
	if err != nil {
		return nil, err
	}
	f := &Fold{world: world}
	if err := f.read(ctx, log, from); err != nil {
		return nil, err
	}
	// All records are read, so the recovery that Restore began is over
	world.Recovered()
	return f, nil
}

// Recover returns the state after the log's last durable record. It returns the same errors as Fold.Follow.
func Recover(ctx context.Context, log store.Reader) (*projector.World, error) {
	f, err := NewFold(ctx, log)
	if err != nil {
		return nil, err
	}
	return f.World(), nil
}

// Follow folds the records that have become durable since the last call. These errors are final, and later calls return
// them again: events.ErrNewer for a record that needs a newer program, and store.ErrCorrupt for a record that no
// controller writes. After other errors Follow may be called again: store.ErrPruned means that the log no longer has
// the next record (make a new Fold); the rest are the log's own read errors.
func (f *Fold) Follow(ctx context.Context, log store.Reader) error {
	return f.read(ctx, log, f.world.Head)
}

func (f *Fold) read(ctx context.Context, log store.Reader, after events.Sequence) error {
	for rec, err := range log.Read(ctx, after+1) {
		if err != nil {
			return fmt.Errorf("recover from record %d on: %w", after+1, err)
		}
		if err := f.Apply(&rec); err != nil {
			return err
		}
	}
	return nil
}

// Apply folds rec, which must be the record after Through. It returns events.ErrNewer if this program is too old for
// the record, and store.ErrCorrupt if no controller writes such a record.
func (f *Fold) Apply(rec *events.Record) error {
	if f.err != nil {
		return f.err
	}
	if f.err = readable(rec); f.err != nil {
		return f.err
	}
	if err := f.world.Check(rec); err != nil {
		f.err = &store.CorruptError{
			At: rec.Sequence, Cause: err, Hint: "run 'jobledger replay': no controller writes such a log",
		}
		return f.err
	}
	f.world.Apply(rec)
	return nil
}

// Through returns the newest record that was folded; 0 if none was.
func (f *Fold) Through() events.Sequence { return f.world.Head }

// World returns the state as of record Through, equal to the result of a recovery. The call walks over all Jobs and
// pods. If a Loop takes over the world, the Fold must not be used any more.
func (f *Fold) World() *projector.World {
	f.world.Recovered()
	return f.world
}
