package publish_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

const (
	cluster = natstest.Cluster
	stream  = natstest.Stream
)

var life = natstest.Life

// stray is the subject of messages that another client published to the stream by mistake.
const stray = nats.Prefix + "." + cluster + ".stray"

// publishStray publishes one such message.
func publishStray(t testing.TB, js jetstream.JetStream) {
	t.Helper()
	if _, err := js.Publish(t.Context(), stray, []byte("{}")); err != nil {
		t.Fatalf("somebody else cannot publish: %v", err)
	}
}

// messages returns the records in the stream, in its order. It skips stray messages. (A purge of them would not do: it
// is acknowledged before each of several servers has purged, and a consumer may read from a server that has not.)
func messages(t testing.TB, s *natstest.Server) []nats.Event {
	t.Helper()
	js := s.JetStream()
	got, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	info, err := got.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info.State.Msgs == 0 {
		return nil
	}
	consumer, err := got.OrderedConsumer(t.Context(), jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	iter, err := consumer.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer iter.Stop()
	var all []nats.Event
	for {
		m, err := iter.Next()
		if err != nil {
			t.Fatal(err)
		}
		if m.Subject() != stray {
			e, err := nats.Decode(&nats.Message{Subject: m.Subject(), Header: m.Headers(), Data: m.Data()})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, e)
		}
		meta, err := m.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		if meta.NumPending == 0 {
			return all
		}
	}
}
