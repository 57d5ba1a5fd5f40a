package store

import (
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// CheckBatch returns an error unless b may be appended after the record `after`: its sequences follow that record, all
// its records have one time, and only the last one has the end mark (design §4). Every backend calls it in Append.
func CheckBatch(after events.Sequence, b events.Batch) error {
	if len(b.Records) == 0 {
		return errors.New("append batch: it has no records")
	}
	for i := range b.Records {
		r := &b.Records[i]
		want := after + 1 + events.Sequence(i)
		switch last := i == len(b.Records)-1; {
		case r.Sequence != want:
			return fmt.Errorf("append record %d: the next one is %d", r.Sequence, want)
		case r.Time != b.Records[0].Time:
			return fmt.Errorf("append record %d: its time %d differs from %d of its batch", r.Sequence, r.Time, b.Records[0].Time)
		case r.Last && !last:
			return fmt.Errorf("append record %d: the end mark comes before the end of the batch", r.Sequence)
		case last && !r.Last:
			return fmt.Errorf("append record %d: the end mark of the batch is missing", r.Sequence)
		case r.Previous >= r.Sequence:
			return fmt.Errorf("append record %d: its previous pointer says %d", r.Sequence, r.Previous)
		}
	}
	return nil
}

// NextIdentity returns the identity of the log (its ID and epoch) after record r. id is the identity before it. Record
// 1 must be a LogCreated with this identity. An EpochChanged begins an epoch (life of the log) with a higher number.
// Other records change nothing.
func NextIdentity(id events.Identity, r *events.Record) (events.Identity, error) {
	created, ok := r.Facts.(*events.LogCreated)
	if ok != (r.Sequence == 1) {
		return id, fmt.Errorf("record %d is %s: record 1, and no other, creates the log", r.Sequence, r.Kind)
	}
	if ok && (created.LogID != id.LogID || created.Epoch != id.Epoch) {
		return id, fmt.Errorf("record 1 creates log %s.%d, but this is %s", created.LogID, created.Epoch, id)
	}
	if changed, ok := r.Facts.(*events.EpochChanged); ok {
		if changed.Epoch <= id.Epoch {
			return id, fmt.Errorf("record %d goes from epoch %d to %d", r.Sequence, id.Epoch, changed.Epoch)
		}
		id.Epoch = changed.Epoch
	}
	return id, nil
}
