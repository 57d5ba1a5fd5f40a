package publish_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
)

// BenchmarkPublishReplicated publishes to streams of three servers, with atomic batches and with one message in flight.
// Beside them the client publishes prepared messages: with 4,096 in flight, which says nothing about their order, and
// with one in flight.
func BenchmarkPublishReplicated(b *testing.B) {
	n := 20_000
	if testing.Short() {
		n = 4_000
	}
	c := newCluster(b)
	log := onDisk(b, n)
	n = int(log.Head().Sequence)
	js := natstest.JetStream(b, c.url())
	async, err := jetstream.New(js.Conn(), jetstream.WithPublishAsyncMaxPending(4096))
	if err != nil {
		b.Fatal(err)
	}
	round := 0
	in := func(atomic bool, publishIn func(cluster string) float64) func() float64 {
		return func() float64 {
			round++
			cluster := fmt.Sprintf("bench%d", round)
			if _, err := js.CreateStream(b.Context(), jetstream.StreamConfig{
				Name: cluster, Subjects: []string{nats.Everything(cluster)}, Storage: jetstream.FileStorage, Replicas: 3, AllowAtomicPublish: atomic,
			}); err != nil {
				b.Fatal(err)
			}
			defer func() {
				if err := js.DeleteStream(b.Context(), cluster); err != nil {
					b.Fatal(err)
				}
			}()
			return publishIn(cluster)
		}
	}
	ours := func(cluster string) float64 {
		if err := log.SetOffset(publish.Consumer, 0); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		p := natstest.Publish(b, c[0], log, func(config *publish.Config) { config.Cluster, config.Dial.URL = cluster, c.url() })
		if err := untilAcked(b, p, events.Sequence(n)); err != nil {
			b.Fatal(err)
		}
		took := time.Since(begin)
		p.Stop()
		return float64(took) / float64(n)
	}
	theirs := func(cluster string) float64 {
		messages := messagesOf(b, log, cluster)
		begin := time.Now()
		for _, m := range messages {
			if _, err := async.PublishMsgAsync(m, jetstream.WithStallWait(patience.Time())); err != nil {
				b.Fatal(err)
			}
		}
		<-async.PublishAsyncComplete()
		return float64(time.Since(begin)) / float64(n)
	}
	theirsOne := func(cluster string) float64 {
		messages := messagesOf(b, log, cluster)
		begin := time.Now()
		for _, m := range messages {
			if _, err := js.PublishMsg(b.Context(), m); err != nil {
				b.Fatal(err)
			}
		}
		return float64(time.Since(begin)) / float64(n)
	}
	sidebyside.Compare(b, "event",
		sidebyside.Side{Name: "ours", Cost: in(true, ours)},
		sidebyside.Side{Name: "nats.go", Cost: in(false, theirs)},
		sidebyside.Side{Name: "ours-one", Cost: in(false, ours)},
		sidebyside.Side{Name: "nats.go-one", Cost: in(false, theirsOne)},
	)
}
