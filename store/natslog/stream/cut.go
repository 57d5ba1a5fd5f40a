package stream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Cut removes all messages before place, which becomes the first one of the stream.
func (s *Stream) Cut(ctx context.Context, place uint64) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	if err := s.stream.Purge(ctx, jetstream.WithPurgeSequence(place)); err != nil {
		return fmt.Errorf("cut the stream %s before place %d: %w", s.name, place, err)
	}
	return nil
}

// Size returns the oldest place that the stream still has, like First, and the bytes of its messages.
func (s *Stream) Size(ctx context.Context) (first uint64, bytes int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	now, err := s.js.Stream(ctx, s.name) // a separate handle: that of s continues to read from the leader
	if err != nil {
		return 0, 0, fmt.Errorf("ask for the size of the stream %s: %w", s.name, err)
	}
	state := now.CachedInfo().State
	return max(1, state.FirstSeq), int64(min(state.Bytes, 1<<62)), nil
}
