package subscribe

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// Each message says the log's chain value after its record: a head of the log, which covers every record up to that
// one. The subscriber keeps the last one, so it is a witness: whoever rewrites the log afterwards cannot publish a head
// that extends it. Two things show that: the next record, whose head follows from the last one and from what its
// message holds, and the last record itself, when it comes again.

// checkFork tells of an event whose head does not extend the last one.
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

// checkLast compares the last record that was taken with what a message says of it now.
func (s *subscriber) checkLast(h *nats.Head) {
	if h.ID != s.newest.ID || h.Chain == (events.Hash{}) || s.newest.Chain == (events.Hash{}) || h.Chain == s.newest.Chain {
		return
	}
	s.Notice(Notice{NoticeForked, h.ID, fmt.Sprintf(
		"the log was rewritten: the chain value after record %s is %s, and was %s when it was taken", h.ID, h.Chain, s.newest.Chain)})
	s.newest.Chain = h.Chain // once is enough
}

// seek finds what follows the last record that was taken, and looks whether that one is still what it was.
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
