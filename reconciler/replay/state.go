package replay

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Expect sets the states in a snapshot of this log. Each is compared when the replay reaches the last record that it
// includes. Call it at most once, before the first record.
func (r *Replay) Expect(streams []projector.StreamAt) {
	for _, s := range streams {
		r.expected[s.AsOf] = append(r.expected[s.AsOf], s)
	}
}

// Partly tells the replay that the caller leaves out some records. Stored states are then not compared, because the
// replayed states are incomplete.
func (r *Replay) Partly() { r.partly = true }

// state compares the stored state in record rec with the state that results from the records before it.
func (b *turn) state(rec *events.Record) {
	r := b.replay
	f, ok := rec.Facts.(*events.StoredState)
	if !ok || r.partly || r.world.Previous(rec.Stream) == 0 { // there is nothing to compare with
		return
	}
	facts, names, whole := r.parts.Add(rec, f)
	if !whole {
		return
	}
	if r.world.Fold != projector.FoldVersion {
		r.count.OtherStates++
		return
	}
	r.count.States++
	if fields := r.world.Differs(rec.Stream, facts, names, false); len(fields) > 0 {
		b.differ(rec.Sequence, rec.Stream, nil, nil, "the stored state is not what the records before it give")
		b.found[len(b.found)-1].Fields = fields
	}
}

// retire compares the result of the records so far with the way in which the Job ended, according to rec, the record
// that retires it. It does not compare the sentence about it.
func (b *turn) retire(rec *events.Record) {
	recorded, ok := rec.Facts.(*events.JobRetired)
	j := b.replay.world.Job(rec.Stream)
	if !ok || *recorded == (events.JobRetired{}) || j == nil {
		return
	}
	if fields := recorded.Differs(j.Retirement()); len(fields) > 0 {
		b.differ(rec.Sequence, rec.Stream, nil, nil, "the end that it tells is not the one that the records before it give")
		b.found[len(b.found)-1].Fields = fields
	}
}

// snapshot compares the states in the snapshot that include the records up to this batch.
func (b *turn) snapshot() {
	r := b.replay
	at := b.end.Sequence
	streams := r.expected[at]
	delete(r.expected, at)
	for _, s := range streams {
		if r.world.Fold != projector.FoldVersion {
			r.count.OtherStates++
			continue
		}
		if r.pruned && r.world.Previous(s.Stream) == 0 {
			r.count.LostStates++
			continue
		}
		r.count.States++
		fields := r.world.Differs(s.Stream, s.Facts, s.Names, true)
		if len(fields) == 0 {
			continue
		}
		b.differ(at, s.Stream, nil, nil, "the state in the snapshot is not what the records through it give")
		b.found[len(b.found)-1].Fields = fields
	}
}

// check returns an error if a record refers to something that no earlier record introduced.
func (b *turn) check(rec *events.Record) error {
	if err := b.replay.world.Check(rec); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfounded, err)
	}
	return nil
}
