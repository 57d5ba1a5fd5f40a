package witness

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Lacks reports whether the log lacks the record that a witness names, or has another in its place, without having
// recorded that it continued without it.
func Lacks(log store.Reader, said events.Loss) (bool, error) {
	id, head := log.Identity(), log.Head()
	if said.Epoch > id.Epoch || said.Epoch == id.Epoch && said.Sequence > head.Sequence {
		return true, nil
	}
	if said.Epoch < id.Epoch {
		first, restored, err := lifeAfter(log, said.Epoch)
		if err != nil || restored || first == 0 {
			return false, err
		}
		if said.Sequence >= first {
			return true, nil
		}
	}
	if said.Hash == (events.Hash{}) {
		return false, nil
	}
	hash, err := log.Chain(said.Sequence)
	if errors.Is(err, store.ErrPruned) {
		return false, nil // the record to compare with is not kept
	}
	return err == nil && hash != said.Hash, err
}

// lifeAfter returns the first record of the first epoch after the given one, and whether the log then continued
// without lost records; 0 if there is none, or it is pruned.
func lifeAfter(log store.Reader, epoch uint64) (first events.Sequence, restored bool, err error) {
	for r, err := range log.ReadStream(context.Background(), events.Controller, 0, store.Backward) {
		if errors.Is(err, store.ErrPruned) {
			break
		}
		if err != nil {
			return 0, false, err
		}
		f, ok := r.Facts.(*events.EpochChanged)
		if ok && f.Epoch <= epoch {
			break
		}
		if ok {
			first, restored = r.Sequence, f.Reason == events.EpochRestored
		}
	}
	return first, restored, nil
}
