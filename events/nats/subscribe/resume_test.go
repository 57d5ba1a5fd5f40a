package subscribe

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// TestATakeoverWhileTheStreamGrowsMissesNothing: we look at the stream, and then at the subscription. In between more
// was published, and the subscriber before us took it.
func TestATakeoverWhileTheStreamGrowsMissesNothing(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 300).Grow(100)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	ctx, js := t.Context(), s.JetStream()
	stream, err := js.Stream(ctx, natstest.Stream)
	if err != nil {
		t.Fatal(err)
	}
	stale := newFinder(stream, stream.CachedInfo(), natstest.Cluster)

	l.Grow(200)
	p.CaughtUp(t)
	taken := int(l.Log.Head().Sequence)
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "d", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := consumer.Fetch(taken, jetstream.FetchMaxWait(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		if err := m.DoubleAck(ctx); err != nil {
			t.Fatal(err)
		}
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sub := &subscriber{Config: Config{Cluster: natstest.Cluster, Durable: "d"}, order: NewOrder()}
	if err := sub.resume(ctx, stale, info); err != nil {
		t.Fatal(err)
	}

	l.Grow(0)
	p.CaughtUp(t)
	m, err := stream.GetMsg(ctx, info.AckFloor.Stream+1)
	if err != nil {
		t.Fatal(err)
	}
	head, err := nats.ParseHead(&nats.Message{Subject: m.Subject, Header: m.Header})
	if err != nil {
		t.Fatal(err)
	}
	if found := sub.order.Check(&head); found != (Finding{}) {
		t.Errorf("record %d after %d that were taken: %+v", head.ID.Sequence, taken, found)
	}
}
