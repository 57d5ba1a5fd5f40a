package main

import (
	"context"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/reconciler/replay"
)

// oneJob yields the records on which the decisions about one Job depend: the records of the Job and of the controller.
// If such a record refers to a spec that another Job's record has stored, it gives that spec directly to the replay. Of
// each batch (records that were stored together), it marks the last record that it yields as the end.
func oneJob(ctx context.Context, src history.Source, s events.Stream, player *replay.Replay) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		var held *events.Record // the last record, held until it is known whether its batch continues
		for r, err := range history.OfJob(ctx, src, s, 0) {
			if err == nil && held != nil {
				held.Last, err = endsBefore(ctx, src, held, &r)
				if err == nil && !yield(*held, nil) {
					return
				}
			}
			if err == nil {
				err = history.LearnFrom(ctx, src, player.World(), &r)
			}
			if err != nil {
				yield(r, err)
				return
			}
			held = &r
		}
		if held != nil {
			held.Last = true // after it the log ends, so its batch ends, too
			yield(*held, nil)
		}
	}
}

// endsBefore reports whether record a's batch (records that were stored together) ends before record b. All records of
// a batch have the same time, but two batches can have the same time, too.
func endsBefore(ctx context.Context, src history.Source, a, b *events.Record) (bool, error) {
	switch {
	case a.Last || a.Time != b.Time:
		return true, nil
	case a.Sequence+1 == b.Sequence:
		return false, nil
	}
	for r, err := range src.Read(ctx, a.Sequence+1) {
		if err != nil || r.Last || r.Sequence >= b.Sequence {
			return r.Last && r.Sequence < b.Sequence, err
		}
	}
	return true, nil
}
