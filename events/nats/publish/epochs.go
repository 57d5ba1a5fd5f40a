package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// epochs holds the epochs (lives) of a log, newest first. A new epoch begins when the log or the cluster has gone back
// in time: it was restored from a backup, or the log lost its last records. Each record belongs to the epoch in which
// it was written.
type epochs []epoch

type epoch struct {
	number uint64
	first  events.Sequence // its first record
	// restored: this epoch began because the log itself was restored, or had lost records, and not the cluster. False
	// for the first epoch.
	restored bool
}

// loadEpochs reads the epochs from the records of the controller. If the log no longer has the records about older
// epochs, only the order of these epochs is known. That suffices: their records were published, or can no longer be.
func loadEpochs(ctx context.Context, log store.Reader) (epochs, error) {
	now := log.Identity().Epoch
	if now == 1 {
		return epochs{{number: 1, first: 1}}, nil
	}
	var all epochs
	for r, err := range log.ReadStream(ctx, events.Controller, 0, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("find the epochs of the log: %w", err)
		}
		switch f := r.Facts.(type) {
		case *events.EpochChanged:
			all = append(all, epoch{f.Epoch, r.Sequence, f.Reason == events.EpochRestored})
		case *events.LogCreated:
			return append(all, epoch{number: f.Epoch, first: 1}), nil
		}
	}
	before := now
	if len(all) > 0 {
		before = all[len(all)-1].number - 1
	}
	return append(all, epoch{number: before, first: 1}), nil
}

// of returns the epoch (life of the log) in which record s was written.
func (e epochs) of(s events.Sequence) uint64 {
	for _, life := range e {
		if s >= life.first {
			return life.number
		}
	}
	return e[len(e)-1].number
}

// after returns the epoch that follows the one with this number; zero when there is none.
func (e epochs) after(number uint64) epoch {
	for _, life := range slices.Backward(e) {
		if life.number > number {
			return life
		}
	}
	return epoch{}
}

// begin returns e with one more epoch, which begins with the record first.
func (e epochs) begin(number uint64, first events.Sequence) epochs {
	if e[0].number >= number {
		return e
	}
	return slices.Insert(e, 0, epoch{number: number, first: first})
}
