package main

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// batchEnd is the end of a batch of records that changed what is watched.
type batchEnd struct {
	last    *events.Record
	changed []events.Stream // in the order of their first records in the batch
}

// changes follows the log from a record on. It gives the end of each batch that changed a stream that is watched.
func changes(ctx context.Context, src history.Source, watch *history.Live, from events.Sequence) iter.Seq2[batchEnd, error] {
	return func(yield func(batchEnd, error) bool) {
		var changed []events.Stream
		for r, err := range src.Follow(ctx, from) {
			is := false
			if err == nil {
				is, err = watch.Take(ctx, &r)
			}
			if err != nil {
				yield(batchEnd{}, err)
				return
			}
			if is && r.Stream != events.Controller && !slices.Contains(changed, r.Stream) {
				changed = append(changed, r.Stream)
			}
			if !r.Last || len(changed) == 0 {
				continue
			}
			if !yield(batchEnd{&r, changed}, nil) {
				return
			}
			changed = changed[:0]
		}
	}
}

// watched is one object that is shown again whenever what is said of it has changed.
type watched[O any] struct {
	at   func(context.Context, *history.Live, *events.Record) (o O, ok bool, err error) // as of a record; ok is false while it is not known
	said func(*O) ([]byte, error)                                                       // all that is said of it, but as of which record
	show func(*O) error
}

// again shows the object of a stream again, from a record on. It was shown as of another one.
func (w *watched[O]) again(
	ctx context.Context, out io.Writer, between string, src history.Source, s events.Stream, shown *O, asOf history.Place, from events.Sequence,
) error {
	before, err := w.said(shown)
	if err != nil {
		return err
	}
	watch := history.LiveJob(src, s)
	for end, err := range changes(ctx, src, watch, from) {
		if err != nil {
			return err
		}
		if uint64(end.last.Sequence) <= asOf.Sequence {
			continue
		}
		o, ok, err := w.at(ctx, watch, end.last)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		now, err := w.said(&o)
		if err != nil {
			return err
		}
		if bytes.Equal(before, now) {
			continue
		}
		before = now
		if _, err := io.WriteString(out, between); err != nil {
			return err
		}
		if err := w.show(&o); err != nil {
			return err
		}
	}
	return nil
}
