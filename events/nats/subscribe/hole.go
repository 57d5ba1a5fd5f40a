package subscribe

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// One that takes all events sees each that is missing at the next one. Others see only places of the stream that were
// passed over: their messages belong to somebody else, or they were purged, or fell to a limit of the stream, before
// they came. The newest record of a Job may be among them, and no later one names it. So the stream is asked whether it
// still has what was passed over. A place that it has was somebody else's; a place that it has no more is told to be
// missing. A State remembers what is in doubt when the process ends before. (The server does not: whatever a purge
// takes, it counts as acknowledged.)

// hole is places of the stream that were passed over between two messages, and the records that may have stood there.
type hole struct {
	place    uint64 // the first of them
	log      events.Identity
	from, to events.Sequence
	stream   time.Time // when the stream was made
}

const (
	// proveEvery is how often the stream is asked about holes. What it deletes in that time after they were passed over
	// counts as missing.
	proveEvery = time.Second
	// maxHoles bounds how many wait for the question. Beyond it two neighbours are one, with what lies between them.
	maxHoles = 64
)

// passOver notes the hole before a message that is to be handed over.
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

// awaiting waits for the next message, and asks the stream about the holes in time while none comes.
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

// prove asks the stream about the holes, unless it did so a moment ago. What it no longer has, the next event tells of.
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
		if oldest == nil { // all of it was purged
			oldest = &found{place: f.end}
		}
	}
	s.proved = time.Now()
	for _, h := range s.holes {
		switch {
		case !h.stream.Equal(s.created): // that stream is gone, and what comes again in another one is not handed over
			s.fell(h, &nats.Head{})
		case h.place < oldest.place:
			s.fell(h, &oldest.head)
		}
	}
	s.holes = s.holes[:0]
	s.save()
	return nil
}

// fell notes what may have fallen out of the stream in a hole. oldest is the head of the oldest message that the stream
// has, zero for none.
func (s *subscriber) fell(h hole, oldest *nats.Head) {
	switch {
	case oldest.ID.Log == h.log:
		h.to = min(h.to, oldest.ID.Sequence-1)
	case oldest.ID.Log.LogID == h.log.LogID && oldest.ID.Log.Epoch < h.log.Epoch: // it has all of that life
		return
	}
	if h.from > h.to { // what stood in these places was no record of the log
		return
	}
	s.lost = s.lost.with(Gap{Log: h.log, From: h.from, To: h.to, Floor: oldest.Floor})
}

// lacks notes what the stream does not hold before its oldest message, though it is asked for. One that asks for all
// events sees it in what comes. Others do not: the newest record of a Job may be missing, and no later one names it.
func (s *subscriber) lacks(ctx context.Context, f *finder, next nats.ID) error {
	oldest, err := f.at(ctx, f.first)
	if err != nil || oldest == nil || s.order.dense || oldest.head.ID.Log.LogID != next.Log.LogID || oldest.head.ID.Sequence <= next.Sequence {
		return err
	}
	s.lost = s.lost.with(Gap{Log: oldest.head.ID.Log, From: next.Sequence, To: oldest.head.ID.Sequence - 1, Floor: oldest.head.Floor})
	return nil
}

// gaps are what no event told of yet: one of each log, in the order in which they were found.
type gaps []Gap

// with adds one. Of two of a log it makes one, from where the first begins to where the last one ends.
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

// next takes out the one that an event of that log tells: its own log's, or else the oldest. It is zero when there is
// none.
func (all gaps) next(log events.Identity) (Gap, gaps) {
	if len(all) == 0 {
		return Gap{}, nil
	}
	i := max(slices.IndexFunc(all, func(g Gap) bool { return g.Log == log }), 0)
	return all[i], slices.Delete(slices.Clone(all), i, i+1)
}
