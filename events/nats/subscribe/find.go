package subscribe

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// finder finds messages in a stream by binary search, and returns their positions (the message sequences of JetStream).
// That works because the stream holds the records of a log in order, epoch after epoch.
type finder struct {
	stream  jetstream.Stream
	subject string // matches all messages of the cluster
	first   uint64 // oldest position; 1 in a stream that never held a message
	end     uint64 // position after the newest message
	alone   bool   // the stream holds no other messages
}

func newFinder(s jetstream.Stream, info *jetstream.StreamInfo, cluster string) *finder {
	subject := nats.Everything(cluster)
	return &finder{
		stream: s, subject: subject, first: max(info.State.FirstSeq, 1), end: info.State.LastSeq + 1,
		alone: len(info.Config.Subjects) == 1 && info.Config.Subjects[0] == subject && len(info.Config.Sources) == 0,
	}
}

// reach makes sure that f knows the stream as far as the position place: if place is not before f.end, it reads the
// stream's bounds again.
func (f *finder) reach(ctx context.Context, place uint64) error {
	if place < f.end {
		return nil
	}
	info, err := f.stream.Info(ctx)
	if err != nil {
		return fmt.Errorf("look at the stream: %w", err)
	}
	f.first, f.end = max(info.State.FirstSeq, 1), info.State.LastSeq+1
	return nil
}

// found is a message of the cluster, with its position in the stream.
type found struct {
	place  uint64
	head   nats.Head
	others int // number of skipped messages that no Jobledger published
}

// at returns the first message at or after the position with readable headers; nil when there is none before the end.
func (f *finder) at(ctx context.Context, place uint64) (*found, error) {
	for others := 0; place < f.end; {
		m, err := f.stream.GetMsg(ctx, max(place, 1), jetstream.WithGetMsgSubject(f.subject))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("look for a place in the stream: %w", err)
		}
		if m.Sequence >= f.end {
			return nil, nil
		}
		head, err := nats.ParseHead(&nats.Message{Subject: m.Subject, Header: m.Header})
		if err == nil {
			return &found{m.Sequence, head, others}, nil
		}
		if _, ok := nats.RecordID(m.Header); !ok {
			others++
		}
		place = m.Sequence + 1
	}
	return nil, nil
}

// search returns the first position in [lo, hi) with a wanted message; hi when there is none. All messages after a
// wanted one must be wanted too.
func (f *finder) search(ctx context.Context, lo, hi uint64, wanted func(*nats.Head) bool) (uint64, error) {
	for lo < hi {
		middle := lo + (hi-lo)/2
		m, err := f.at(ctx, middle)
		if err != nil {
			return 0, err
		}
		if m == nil || m.place >= hi || wanted(&m.head) {
			hi = middle
		} else {
			lo = m.place + 1
		}
	}
	return lo, nil
}

// newest returns the newest message before a position; nil when there is none.
func (f *finder) newest(ctx context.Context, before uint64) (*found, error) {
	for back := uint64(1); ; back *= 2 { // the messages between may be deleted, or belong to others
		lo := f.first
		if before > f.first+back {
			lo = before - back
		}
		var last *found
		for place := lo; place < before; place = last.place + 1 {
			m, err := f.at(ctx, place)
			if err != nil {
				return nil, err
			}
			if m == nil || m.place >= before {
				break
			}
			last = m
		}
		if last != nil || lo == f.first {
			return last, nil
		}
	}
}

// segment holds the positions of the messages of one epoch (life of the log).
type segment struct {
	log        events.Identity
	head       nats.Head // head of the first message
	first, end uint64
}

// before returns the last segment that ends at or before the position; nil when there is none.
func (f *finder) before(ctx context.Context, end uint64) (*segment, error) {
	last, err := f.newest(ctx, end)
	if last == nil || err != nil {
		return nil, err
	}
	s := &segment{log: last.head.ID.Log, end: last.place + 1}
	first, err := f.search(ctx, f.first, s.end, func(h *nats.Head) bool { return h.ID.Log == s.log })
	if err != nil {
		return nil, err
	}
	m, err := f.at(ctx, first)
	if m == nil || err != nil {
		return nil, err
	}
	s.first, s.head = m.place, m.head
	return s, nil
}

// sequence returns the position of the record with this sequence in the stream's newest log. If that record is missing,
// it returns the position of the first record after it.
func (f *finder) sequence(ctx context.Context, want events.Sequence) (uint64, error) {
	place := f.end
	logID := ""
	for {
		s, err := f.before(ctx, place)
		if err != nil || s == nil || (logID != "" && s.log.LogID != logID) {
			return place, err
		}
		if want >= s.head.ID.Sequence {
			return f.search(ctx, s.first, s.end, func(h *nats.Head) bool { return h.ID.Sequence >= want })
		}
		place, logID = s.first, s.log.LogID
	}
}

// after returns the position after the record id. If the record is missing, it returns where that position would be.
func (f *finder) after(ctx context.Context, id nats.ID) (uint64, error) {
	place := f.end
	for {
		s, err := f.before(ctx, place)
		switch {
		case err != nil:
			return 0, err
		case s == nil: // the stream has no message of that epoch
			return f.first, nil
		case s.log == id.Log:
			return f.search(ctx, s.first, s.end, func(h *nats.Head) bool { return h.ID.Sequence > id.Sequence })
		case s.log.LogID == id.Log.LogID && s.log.Epoch < id.Log.Epoch:
			return s.end, nil
		}
		place = s.first
	}
}

// expected returns the ID of the first record that should come from the position on; zero when the stream has no
// message that shows it.
func (f *finder) expected(ctx context.Context, place uint64) (nats.ID, error) {
	m, err := f.at(ctx, place)
	if err != nil {
		return nats.ID{}, err
	}
	if m == nil {
		last, err := f.newest(ctx, f.end)
		if last == nil || err != nil {
			return nats.ID{}, err
		}
		return nats.ID{Log: last.head.ID.Log, Sequence: last.head.ID.Sequence + 1}, nil
	}
	id := m.head.ID
	if m.place == place {
		return id, nil
	}
	before, err := f.newest(ctx, place)
	if err != nil {
		return nats.ID{}, err
	}
	gone := events.Sequence(m.place-place) - events.Sequence(m.others)
	switch {
	case before != nil && before.head.ID.Log == id.Log:
		id.Sequence = min(id.Sequence, before.head.ID.Sequence+1)
	case f.alone && gone < id.Sequence: // the deleted messages were all records
		id.Sequence -= gone
	}
	return id, nil
}

// start returns the position where a subscription with Start s begins, and the first record that should come.
func (f *finder) start(ctx context.Context, s Start) (place uint64, first nats.ID, err error) {
	switch s.kind {
	case fromNow:
		place = f.end
	case fromFirst:
		place = f.first
	case fromTime:
		place, err = f.search(ctx, f.first, f.end, func(h *nats.Head) bool { return h.Time >= s.time })
	case fromSequence:
		place, err = f.sequence(ctx, s.id.Sequence)
	case afterID:
		place, err = f.after(ctx, s.id)
	}
	if err != nil {
		return 0, nats.ID{}, err
	}
	place = max(place, 1)
	if first, err = f.expected(ctx, place); err != nil {
		return 0, nats.ID{}, err
	}
	if s.kind == fromSequence {
		first.Sequence = s.id.Sequence
	} else if s.kind == afterID {
		first = nats.ID{Log: s.id.Log, Sequence: s.id.Sequence + 1}
	}
	return place, first, nil
}
