package witness

import (
	"context"
	"errors"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Lacks reports whether the log lost the record that a witness (something outside the log that knows how far it went)
// names. It is lost if it is missing, or if another record has its number. If a record of the log says that it
// continues without the lost one, the result is false.
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
		return false, nil // if the log has deleted the record, there is nothing to compare
	}
	return err == nil && hash != said.Hash, err
}

// lifeAfter returns the first record of the first epoch (life of the log) after the given epoch; 0 if there is none, or
// the log has deleted it. restored is true if that epoch began because records were lost.
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
