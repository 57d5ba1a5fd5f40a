package loop

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// Fold is the state of a log that another process may go on writing: what a standby holds. It begins as a recovery
// does, and takes in later records one by one. Its World is at each record the one that a recovery gives of the log up
// to there, so a Loop with it writes what a restart would write.
//
//	fold, err := loop.NewFold(ctx, log)  // the log's end as it is now
//	err = fold.Follow(ctx, log)          // again, whenever the log has grown
//	l := loop.New(loop.Config{Log: log, World: fold.World(), …})
//
// A Fold is not safe for concurrent use. It is of one log: of a log that went back, or of another one, make a new Fold.
type Fold struct {
	world *projector.World
	err   error // the record that could not be folded; the Fold is at its end then
}

// NewFold folds the log up to its durable end: from its newest snapshot on, or from the newest file that stands alone,
// whichever is later. Its errors are those of Follow.
func NewFold(ctx context.Context, log store.Reader) (*Fold, error) {
	world, from, err := restored(ctx, log)
	if err != nil {
		return nil, err
	}
	f := &Fold{world: world}
	if err := f.read(ctx, log, from); err != nil {
		return nil, err
	}
	world.Recovered() // a snapshot covers durable records only: none of its streams is ahead of what follows
	return f, nil
}

// Recover folds the log up to its durable end, once.
func Recover(ctx context.Context, log store.Reader) (*projector.World, error) {
	f, err := NewFold(ctx, log)
	if err != nil {
		return nil, err
	}
	return f.World(), nil
}

// Follow folds the records that became durable since, up to the log's end. The error is store.ErrPruned when the log no
// longer keeps the next record (make a new Fold then), events.ErrNewer of a record of a critical kind that this program
// does not know, store.ErrCorrupt of one that no controller writes, or that of the log. After ErrNewer and ErrCorrupt
// each later call gives the same error; after another error it may be called again.
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

// Apply folds one record: the one after Through. Its errors are ErrNewer and ErrCorrupt as Follow has them.
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

// Through is the newest record that is folded; 0 before the first.
func (f *Fold) Through() events.Sequence { return f.world.Head }

// World is the state as of Through, put in the order that a recovery gives it: a log tells in which order streams have
// their newest records, and a world that goes on keeps them as they were last stated. It walks over all Jobs and pods.
// A Loop takes it over: the Fold must not be used any more then.
func (f *Fold) World() *projector.World {
	f.world.Recovered()
	return f.world
}
