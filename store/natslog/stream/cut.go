package stream

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Cut removes the stream's messages before place (a sequence in the stream), so that place becomes the oldest message.
func (s *Stream) Cut(ctx context.Context, place uint64) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	there, err := s.handle(ctx)
	if err != nil {
		return fmt.Errorf("cut the stream %s before place %d: %w", s.name, place, err)
	}
	if err := there.Purge(ctx, jetstream.WithPurgeSequence(place)); err != nil {
		return fmt.Errorf("cut the stream %s before place %d: %w", s.name, place, err)
	}
	return nil
}
