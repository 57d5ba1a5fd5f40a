package subscribe

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// This file detects a log that was rewritten. Each message contains the log's chain value: the hash of all records up
// to its own. The subscriber keeps the last value. If someone rewrites the log later, the new records do not fit that
// value. The subscriber compares two things: the chain value of the next record, which must follow from the last value
// and the message; and the last record itself, when it comes again.

// checkFork sends a Notice if the chain value (hash) in e does not follow from the last one.
func (s *subscriber) checkFork(e *nats.Event) {
	last := s.newest
	if e.Chain == (events.Hash{}) || last.Chain == (events.Hash{}) || e.ID.Log.LogID != last.ID.Log.LogID {
		return
	}
	switch {
	case e.ID == last.ID:
		s.checkLast(&e.Head)
	case e.ID.Sequence == last.ID.Sequence+1 && e.ID.Log.Epoch >= last.ID.Log.Epoch:
		if want, known := e.ChainAfter(last.Chain); known && want != e.Chain {
			s.Notice(Notice{NoticeForked, e.ID, fmt.Sprintf(
				"the log was rewritten: the chain value after record %s is %s, and from that after the record before it as it was taken follows %s",
				e.ID, e.Chain, want)})
		}
	}
}

// checkLast sends a Notice if a message has the last handled record with another chain value (hash) than before.
func (s *subscriber) checkLast(h *nats.Head) {
	if h.ID != s.newest.ID || h.Chain == (events.Hash{}) || s.newest.Chain == (events.Hash{}) || h.Chain == s.newest.Chain {
		return
	}
	s.Notice(Notice{NoticeForked, h.ID, fmt.Sprintf(
		"the log was rewritten: the chain value after record %s is %s, and was %s when it was taken", h.ID, h.Chain, s.newest.Chain)})
	s.newest.Chain = h.Chain // one notice is enough
}

// seek returns the position after the last record that was handled, and checks that this record is unchanged.
func (s *subscriber) seek(ctx context.Context, f *finder) (uint64, error) {
	place, err := f.after(ctx, s.newest.ID)
	if err != nil || s.newest.Chain == (events.Hash{}) {
		return place, err
	}
	last, err := f.newest(ctx, place)
	if last != nil && err == nil {
		s.checkLast(&last.head)
	}
	return place, err
}
