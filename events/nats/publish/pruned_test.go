package publish_test

import (
	"context"
	"iter"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// prunedLog keeps no records before one.
type prunedLog struct {
	store.Log
	first events.Sequence
}

func (l *prunedLog) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	if from == 0 {
		return l.Log.Read(ctx, l.first)
	}
	if from < l.first {
		return func(yield func(events.Record, error) bool) { yield(events.Record{}, store.ErrPruned) }
	}
	return l.Log.Read(ctx, from)
}

func (l *prunedLog) ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir store.Direction) iter.Seq2[events.Record, error] {
	return func(yield func(events.Record, error) bool) {
		for r, err := range l.Log.ReadStream(ctx, s, from, dir) {
			if err == nil && r.Sequence < l.first {
				if dir == store.Forward {
					continue
				}
				yield(events.Record{}, store.ErrPruned)
				return
			}
			if !yield(r, err) {
				return
			}
		}
	}
}
