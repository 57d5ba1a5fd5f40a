package publish

import (
	"context"
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// This file publishes over core NATS, which has no streams and no acknowledgements. The answer to a ping only shows
// that the server has read what was sent. Clients that were subscribed at that moment got it.

// sendCore sends the next record to the clients that are subscribed now.
func (s *session) sendCore(ctx context.Context, r *events.Record) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	m, err := s.message(ctx, r)
	if err != nil {
		return err
	}
	if err := s.conn.PublishMsg(m); err != nil {
		return fmt.Errorf("send record %d: %w", r.Sequence, err)
	}
	s.last += uint64(m.Size())
	s.unflushed++
	if s.unflushed < s.MaxInFlight && s.last < uint64(s.MaxInFlightBytes) {
		return nil
	}
	s.from = r.Sequence + 1
	return s.flush(ctx)
}

// flush waits until the server has read everything that was sent, and stores in the log how far it is published.
func (s *session) flush(ctx context.Context) error {
	if s.unflushed == 0 {
		return nil
	}
	bound, cancel := context.WithTimeout(ctx, s.AckTimeout)
	defer cancel()
	if err := s.conn.FlushWithContext(bound); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return fmt.Errorf("%w: %w", errOverdue, err)
	}
	through := s.from - 1
	s.state.stored(through, 0, s.unflushed)
	s.state.note(through)
	s.last, s.unflushed = 0, 0
	return s.offset.Note(through)
}
