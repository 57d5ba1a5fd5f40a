package publish_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/natstest"
)

const (
	cluster = natstest.Cluster
	stream  = natstest.Stream
)

var life = natstest.Life

// messages are those of the stream, in its order.
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
		e, err := nats.Decode(&nats.Message{Subject: m.Subject(), Header: m.Headers(), Data: m.Data()})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
		meta, err := m.Metadata()
		if err != nil {
			t.Fatal(err)
		}
		if meta.NumPending == 0 {
			return all
		}
	}
}
