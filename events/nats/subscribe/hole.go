package subscribe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// This file detects missing events of a subscription with filters. A subscription to all events detects each missing
// event at the next one. A subscription with filters only sees that positions of the stream are skipped. The messages
// there may not match the filters, or were purged, or exceeded a limit of the stream before they came. They may include
// the newest record of a Job, which no later record names. So Run asks the stream for its oldest message. If the stream
// still has a skipped position, the message there did not match; records at a position that it no longer has are
// reported missing. A State stores positions that are not checked yet. (The server cannot: it counts purged messages as
// acknowledged.)

// hole is a range of skipped positions between two messages, with the records that may have been there.
type hole struct {
	place    uint64 // the first position
	log      events.Identity
	from, to events.Sequence
	stream   time.Time // creation time of the stream
}

const (
	// proveEvery is the interval between checks of holes (skipped positions). Messages that the stream deletes after
	// they were skipped and before the check count as missing.
	proveEvery = time.Second
	// maxHoles bounds the number of holes that are not checked yet. If there are more, the last two are merged,
	// together with the records between them.
	maxHoles = 64
)

// passOver stores a hole if positions were skipped before the message at position place, which is about to be
// delivered.
func (s *subscriber) passOver(h *nats.Head, place uint64) {
	from := s.floor.first()
	if s.order.dense || place <= s.place+1 || from.Log != h.ID.Log || from.Sequence >= h.ID.Sequence {
		return
	}
	s.holes = append(s.holes, hole{s.place + 1, h.ID.Log, from.Sequence, h.ID.Sequence - 1, s.created})
	if n := len(s.holes); n > maxHoles && s.holes[n-2].log == s.holes[n-1].log {
		s.holes[n-2].to = s.holes[n-1].to
		s.holes = s.holes[:n-1]
	}
}

// awaiting calls next to wait for a message, and checks the holes (skipped positions) in time while no message comes.
func (s *subscriber) awaiting(ctx context.Context, next func(context.Context) error) error {
	for len(s.holes) > 0 {
		bound, cancel := context.WithDeadline(ctx, s.proved.Add(proveEvery))
		err := next(bound)
		due := bound.Err() != nil && ctx.Err() == nil
		if cancel(); err == nil || !due {
			return err
		}
		if err := s.prove(ctx); err != nil {
			return err
		}
	}
	return next(ctx)
}

// prove checks the holes (skipped positions), at most once per proveEvery. What is missing is reported with the next
// event.
func (s *subscriber) prove(ctx context.Context) error {
	if len(s.holes) == 0 || time.Since(s.proved) < proveEvery {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	info, err := s.stream.Info(bound)
	if err != nil {
		return fmt.Errorf("look at the stream: %w", err)
	}
	oldest := &found{}
	f := newFinder(s.stream, info, s.Cluster)
	if s.holes[0].place < f.first {
		if oldest, err = f.at(bound, f.first); err != nil {
			return err
		}
		if oldest == nil { // the stream is empty: everything was purged
			oldest = &found{place: f.end}
		}
	}
	s.proved = time.Now()
	for _, h := range s.holes {
		switch {
		// If the stream with the hole was deleted, its messages are lost: another stream will not deliver them
		case !h.stream.Equal(s.created):
			s.fell(h, &nats.Head{})
		case h.place < oldest.place:
			s.fell(h, &oldest.head)
		}
	}
	s.holes = s.holes[:0]
	s.save()
	return nil
}

// fell adds to s.lost the records of hole h that the stream may have deleted. oldest is the head of the oldest message
// in the stream, zero for none.
func (s *subscriber) fell(h hole, oldest *nats.Head) {
	switch {
	case oldest.ID.Log == h.log:
		h.to = min(h.to, oldest.ID.Sequence-1)
	case oldest.ID.Log.LogID == h.log.LogID && oldest.ID.Log.Epoch < h.log.Epoch: // it still has all of the later epoch
		return
	}
	if h.from > h.to { // the log had no records at these positions
		return
	}
	s.lost = s.lost.with(Gap{Log: h.log, From: h.from, To: h.to, Floor: oldest.Floor})
}

// lacks adds to s.lost the records from next on that are missing because they are older than the oldest message of the
// stream. A subscription to all events detects that anyway. With filters it may not: the newest record of a Job may be
// missing, and no later one names it.
func (s *subscriber) lacks(ctx context.Context, f *finder, next nats.ID) error {
	oldest, err := f.at(ctx, f.first)
	if err != nil || oldest == nil || s.order.dense || oldest.head.ID.Log.LogID != next.Log.LogID || oldest.head.ID.Sequence <= next.Sequence {
		return err
	}
	s.lost = s.lost.with(Gap{Log: oldest.head.ID.Log, From: next.Sequence, To: oldest.head.ID.Sequence - 1, Floor: oldest.head.Floor})
	return nil
}

// gaps holds the gaps (ranges of missing records) that no event has reported yet: at most one per log, in the order of
// detection.
type gaps []Gap

// with adds a gap. It merges two gaps of one log into one that spans both.
func (all gaps) with(other Gap) gaps {
	if other == (Gap{}) {
		return all
	}
	i := slices.IndexFunc(all, func(g Gap) bool { return g.Log == other.Log })
	if i < 0 {
		return append(all, other)
	}
	g := &all[i]
	if g.Stream != other.Stream {
		g.Stream = events.Stream{}
	}
	g.From, g.To, g.Floor = min(g.From, other.From), max(g.To, other.To), max(g.Floor, other.Floor)
	return all
}

// next removes and returns the gap that an event of the log reports: the gap of that log, or else the oldest one. It is
// zero when there is none.
func (all gaps) next(log events.Identity) (Gap, gaps) {
	if len(all) == 0 {
		return Gap{}, nil
	}
	i := max(slices.IndexFunc(all, func(g Gap) bool { return g.Log == log }), 0)
	return all[i], slices.Delete(slices.Clone(all), i, i+1)
}
