package backup

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/beside"
	"github.com/jobledger/jobledger/store"
)

// record is one record of the log's newest file as its stored bytes, with the hash of all records through it.
type record struct {
	label  events.Label
	time   events.Time
	epoch  uint64
	stored []byte
	after  events.Hash
}

// recordsOf yields the log's records from record from through record end. before is the hash of all records in front of
// them. At the end it compares the hash of all records with end's; if they differ, the log's records do not follow the
// copy's, and it yields a forkError.
func recordsOf(ctx context.Context, l *beside.Log, from events.Sequence, before events.Hash, epoch uint64, end store.Head) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		at, hash := from-1, before
		next := func(stored []byte) (record, error) {
			r := record{stored: stored, epoch: epoch}
			h, err := events.DecodeHeader(stored)
			if err == nil {
				r.after, err = hash.Next(stored)
			}
			if err == nil && h.Sequence != at+1 {
				err = fmt.Errorf("record %d comes behind record %d", h.Sequence, at)
			}
			if err == nil && (h.Kind == events.KindEpochChanged || h.Kind == events.KindLogCreated) {
				r.epoch, err = epochOf(stored)
			}
			r.label = events.Label{Sequence: h.Sequence, Kind: h.Kind, Critical: h.Critical, Last: h.Last}
			r.time, at, hash, epoch = h.Time, h.Sequence, r.after, r.epoch
			return r, err
		}
		for stored, err := range l.Stored(ctx, from, end.Sequence) {
			var r record
			if err == nil {
				r, err = next(stored)
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
		if at != end.Sequence || hash != end.Hash {
			yield(record{}, &forkError{at: from - 1})
		}
	}
}

// errStop ends the reading of a file before its end; it never reaches a caller.
var errStop = errors.New("enough")

// forkError says that the log's records do not continue the copy's, which end with record at.
type forkError struct{ at events.Sequence }

func (e *forkError) Error() string {
	return fmt.Sprintf("the log does not go on from record %d as the copy has it", e.at)
}

func epochOf(stored []byte) (uint64, error) {
	r, err := events.DecodeRecord(stored)
	if err != nil {
		return 0, err
	}
	if epoch, ok := events.EpochIn(r.Facts); ok {
		return epoch, nil
	}
	return 0, fmt.Errorf("record %d says no epoch", r.Sequence)
}
