package watch

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
)

// batchEnd says what one batch (records that were stored together) changed: its last record, and the changed objects.
type batchEnd struct {
	last    *events.Record
	changed []events.Stream // the watched objects that changed, in the order of their records
}

// changes follows the log from record from on. For each batch (records that were stored together) that changed watched
// objects, it yields which ones.
func changes(ctx context.Context, src history.Source, live *history.Live, from events.Sequence) iter.Seq2[batchEnd, error] {
	return func(yield func(batchEnd, error) bool) {
		var changed []events.Stream
		for r, err := range src.Follow(ctx, from) {
			is := false
			if err == nil {
				is, err = live.Take(ctx, &r)
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

// EndOf returns the number of the log's last record. If wanted is false, it returns 0 and does not read.
func EndOf(ctx context.Context, src history.Source, wanted bool) (events.Sequence, error) {
	if !wanted {
		return 0, nil
	}
	_, head, err := src.Head(ctx)
	return head.Sequence, err
}

// UnlessInterrupted returns err, or nil if ctx has ended: an interrupt is the normal end of a watch.
func UnlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// Shown remembers what was shown last about each object. T is the type of the answers.
type Shown[T any] struct {
	// Said returns the UID of the object of an answer, the object's newest record (last), and the answer without the
	// fields that change with each record, such as its number of records (said). Shown compares said, so a change of
	// these fields alone does not count. last is 0 if the answer can change without a new record.
	Said  func(T) (uid string, last uint64, said any)
	shown map[string]lastShown // what was shown last about each object, by UID
}

type lastShown struct {
	said [sha256.Size]byte // hash of the answer without the fields that change with each record
	last uint64            // newest record of the object at that time
}

// Changed reports whether the answer j differs from what was shown last about the object. If so, it remembers j as
// shown.
func (s *Shown[T]) Changed(j T) (bool, error) {
	uid, last, bare := s.Said(j)
	text, err := json.Marshal(bare)
	if err != nil {
		return false, fmt.Errorf("write what is said of an object: %w", err)
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

// Follow follows the log from record from on, until ctx ends or an error occurs. After each batch (records that were
// stored together) it calls show with the answers that changed. one returns the answer about an object as of a record;
// ok is false if the question does not select the object.
func (s *Shown[T]) Follow(
	ctx context.Context, src history.Source, live *history.Live, from events.Sequence,
	one func(events.Stream, *events.Record) (j T, ok bool, err error), show func(T) error,
) error {
	for end, err := range changes(ctx, src, live, from) {
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
			changed, err := s.Changed(j)
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
