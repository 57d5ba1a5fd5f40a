package subscribe

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// This file handles a subscription that begins with a record that is not published yet. It takes no record before that
// one ([floor]). For a durable subscription the server stores that record's ID in the consumer's metadata, so that a
// Run which continues before the record was published still waits for it.

// beginKey is the metadata key. The value is the record's ID, or only the sequence when the stream has no message yet
// that shows the log's ID.
const beginKey = "jobledger.dev/begins-with"

// beginNote returns the metadata that says with which record to begin; nil when the subscription may begin anywhere.
func beginNote(least nats.ID) map[string]string {
	switch {
	case least.Sequence == 0:
		return nil
	case least.Log == (events.Identity{}):
		return map[string]string{beginKey: strconv.FormatUint(uint64(least.Sequence), 10)}
	}
	return map[string]string{beginKey: least.String()}
}

// recall reads from the consumer's metadata the first record to wait for, and sets the floor: the first record to
// deliver. It does nothing if an acknowledgement shows that the record has come.
func (s *subscriber) recall(ctx context.Context, f *finder, info *jetstream.ConsumerInfo) error {
	text, ok := info.Config.Metadata[beginKey]
	if !ok {
		return nil
	}
	var least nats.ID
	if sequence, err := strconv.ParseUint(text, 10, 64); err == nil {
		least.Sequence = events.Sequence(sequence)
	} else if least, err = nats.ParseID(text); err != nil {
		return &finalError{fmt.Errorf("the durable subscription %s does not say where it begins; delete it: %w", s.Durable, err)}
	}
	if info.AckFloor.Consumer > 0 {
		newest, err := f.at(ctx, info.AckFloor.Stream)
		if err != nil {
			return err
		}
		if newest == nil || newest.place != info.AckFloor.Stream {
			return nil
		}
		if least.Log == (events.Identity{}) {
			least.Log = newest.head.ID.Log
		}
		if least.Log.LogID != newest.head.ID.Log.LogID || following(newest.head.ID).Compare(least) >= 0 {
			return nil
		}
	}
	next := s.floor.first()
	if known := next.Log != (events.Identity{}) && least.Log != (events.Identity{}); known && (next.Log.LogID != least.Log.LogID || next.Compare(least) >= 0) {
		return nil // that record was delivered already, even if the server lost the acknowledgements that show it
	}
	s.floor.raise(least)
	s.order.Expect(least)
	return nil
}
