package main

import (
	"context"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/reconciler/replay"
)

// oneJob yields the part of each batch on which one Job's decisions depend: its own stream and the controller's. It
// passes specs that other Jobs' streams store directly to the replay. The last record of a part carries its batch's end
// mark.
func oneJob(ctx context.Context, src history.Source, s events.Stream, player *replay.Replay) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		var held *events.Record // until it is known whether its batch continues
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
			held.Last = true // the log ends with a whole batch
			yield(*held, nil)
		}
	}
}

// endsBefore reports whether a's batch ends before b. All records of a batch have the same time, but two batches may
// share one.
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
