package replay

import (
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/projector"
)

// Expect takes the streams of a snapshot of this log. Each is compared when the replay comes to the record that it is
// as of. A replay takes one before its first record.
func (r *Replay) Expect(streams []projector.StreamAt) {
	for _, s := range streams {
		r.expected[s.AsOf] = append(r.expected[s.AsOf], s)
	}
}

// Partly tells the replay that it is not handed all records: stored states are not compared then, because some of what
// they are made of is missing.
func (r *Replay) Partly() { r.partly = true }

// state compares a stored state with what the records before it give.
func (b *turn) state(rec *events.Record) {
	r := b.replay
	f, ok := rec.Facts.(*events.StoredState)
	if !ok || r.partly || r.world.Previous(rec.Stream) == 0 { // a log that begins with this file
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

// retire compares what the record by which a Job retires says of its end with what the records before it give. What the
// verdict says in words is evidence.
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

// snapshot compares what a snapshot has as of the batch that has been replayed.
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

// check says that a batch has a record which refers to what no record before it says.
func (b *turn) check(rec *events.Record) error {
	if err := b.replay.world.Check(rec); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfounded, err)
	}
	return nil
}
