package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/ask"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
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

// endOf is the end of the log, if it is wanted.
func endOf(ctx context.Context, src history.Source, wanted bool) (events.Sequence, error) {
	if !wanted {
		return 0, nil
	}
	_, head, err := src.Head(ctx)
	return head.Sequence, err
}

// unlessInterrupted is the error of what goes on until it is interrupted.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// watched is one object that is shown again whenever what is said of it has changed.
type watched struct {
	at   func(context.Context, *history.Live, *events.Record) (o ask.State, ok bool, err error) // as of a record; ok is false while it is not known
	show func(*ask.State) error
}

// again shows the object again, from a record on. It was shown as of another one.
func (w *watched) again(ctx context.Context, out io.Writer, between string, src history.Source, shown *ask.State, from events.Sequence) error {
	before, err := shown.Unplaced()
	if err != nil {
		return err
	}
	watch := history.LiveJob(src, shown.Stream())
	for end, err := range changes(ctx, src, watch, from) {
		if err != nil {
			return err
		}
		if uint64(end.last.Sequence) <= shown.AsOf().Sequence {
			continue
		}
		o, ok, err := w.at(ctx, watch, end.last)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		now, err := o.Unplaced()
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

// seen remembers how the objects of a list were shown last.
type seen[T any] struct {
	// said is all that is said of an object, but how many records there are; last is its newest record, 0 where what is said may change
	// without one.
	said  func(T) (uid string, last uint64, said any)
	shown map[string]lastShown // by UID
}

type lastShown struct {
	said [sha256.Size]byte // the digest of what was said of the object
	last uint64            // its newest record
}

// changed reports whether an object is another than it was shown last, and takes it for shown.
func (s *seen[T]) changed(j T) (bool, error) {
	uid, last, bare := s.said(j)
	text, err := show.Indented(bare)
	if err != nil {
		return false, err
	}
	said := sha256.Sum256(text)
	before, known := s.shown[uid]
	if known && (last != 0 && last <= before.last || before.said == said) {
		return false, nil
	}
	if s.shown == nil {
		s.shown = map[string]lastShown{}
	}
	s.shown[uid] = lastShown{said, last}
	return true, nil
}

// watchList shows each object of a list that a batch of records changed, from a record on. one is such an object as of a record; ok
// is false for one that is not wanted then.
func (s *seen[T]) watchList(
	ctx context.Context, src history.Source, watch *history.Live, from events.Sequence,
	one func(events.Stream, *events.Record) (j T, ok bool, err error), show func(T) error,
) error {
	for end, err := range changes(ctx, src, watch, from) {
		if err != nil {
			return err
		}
		for _, stream := range end.changed {
			j, ok, err := one(stream, end.last)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			changed, err := s.changed(j)
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
			if err := show(j); err != nil {
				return err
			}
		}
	}
	return nil
}
