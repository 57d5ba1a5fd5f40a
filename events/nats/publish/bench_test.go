package publish_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/natstest"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/livetail"
)

// BenchmarkPublish compares the publisher, which reads a log on disk and makes the messages, with the client's own
// asynchronous publishing of prepared messages: same server, same messages, same round. The goal of speed/nats.go is
// 0.8.
func BenchmarkPublish(b *testing.B) {
	n := 50_000
	if testing.Short() {
		n = 10_000
	}
	s := natstest.NewServer(b).Start()
	log := onDisk(b, n)
	n = int(log.Head().Sequence)
	js := s.JetStream()
	async, err := jetstream.New(js.Conn(), jetstream.WithPublishAsyncMaxPending(4096)) // as many as ours
	if err != nil {
		b.Fatal(err)
	}
	round := 0
	stream := func() (cluster string) { // a new one for each side of each round
		round++
		cluster = fmt.Sprintf("bench%d", round)
		if _, err := js.CreateStream(b.Context(), jetstream.StreamConfig{
			Name: cluster, Subjects: []string{nats.Everything(cluster)}, Storage: jetstream.FileStorage,
		}); err != nil {
			b.Fatal(err)
		}
		return cluster
	}
	drop := func(cluster string) {
		if err := js.DeleteStream(b.Context(), cluster); err != nil {
			b.Fatal(err)
		}
	}
	ours := func(contentType string) func() float64 {
		return func() float64 {
			cluster := stream()
			defer drop(cluster)
			if err := log.SetOffset(publish.Consumer, 0); err != nil {
				b.Fatal(err)
			}
			begin := time.Now()
			p := natstest.Publish(b, s, log, func(c *publish.Config) { c.Cluster, c.ContentType = cluster, contentType })
			if err := untilAcked(b, p, events.Sequence(n)); err != nil {
				b.Fatal(err)
			}
			took := time.Since(begin)
			p.Stop()
			return float64(took) / float64(n)
		}
	}
	theirs := func() float64 {
		cluster := stream()
		defer drop(cluster)
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
	sidebyside.Compare(b, "event",
		sidebyside.Side{Name: "ours", Cost: ours(nats.Protobuf)},
		sidebyside.Side{Name: "nats.go", Cost: theirs},
		sidebyside.Side{Name: "ours-json", Cost: ours(nats.JSON)},
	)
}

// untilAcked waits, with pauses between its questions.
func untilAcked(b *testing.B, p *natstest.Publisher, head events.Sequence) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for p.Status().Acked < head {
		select {
		case <-tick.C:
		case <-b.Context().Done():
			return b.Context().Err()
		}
	}
	return nil
}

// onDisk is a log as a controller has it.
func onDisk(b *testing.B, n int) *livetail.Log {
	disk, err := boltlog.Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	log := livetail.New(disk, 0)
	b.Cleanup(func() { log.Close() })
	if n == 0 {
		return log
	}
	l := &diskLedger{log: log}
	for _, batch := range natstest.Source(b, n) {
		l.append(b, batch)
	}
	return log
}

// diskLedger appends to a log the records of another.
type diskLedger struct{ log *livetail.Log }

func (l *diskLedger) append(b *testing.B, batch events.Batch) {
	batch.Records = slices.Clone(batch.Records)
	if created, ok := batch.Records[0].Facts.(*events.LogCreated); ok {
		mine := *created
		mine.LogID = l.log.Identity().LogID
		batch.Records[0].Facts = &mine
	}
	if err := l.log.Room(1 << 20); err != nil {
		b.Fatal(err)
	}
	commit := l.log.Append(batch, true)
	<-commit.Done()
	if err := commit.Err(); err != nil {
		b.Fatal(err)
	}
}

// messagesOf makes all messages of a log beforehand.
func messagesOf(b *testing.B, log *livetail.Log, cluster string) []*natsgo.Msg {
	names := map[events.Stream]events.JobRef{}
	var all []*natsgo.Msg
	for r, err := range log.Read(b.Context(), 0) {
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := r.Facts.(*events.JobSeen); ok {
			names[r.Stream] = events.JobRef{Namespace: r.Evidence.Namespace, Name: r.Evidence.Name}
		}
		e := nats.Encoder{Cluster: cluster} // its memory is the message's
		m, err := e.Encode(&r, log.Identity(), names[r.Stream], 1)
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data})
	}
	return all
}

// BenchmarkDelivery measures the time until a subscriber has a record: from the moment at which it is durable with
// ours, and beside it with the client's own publishing of a message, without a log. A user waits for delivered-…-ns
// after a pod has finished; it includes the two syncs of the log's disk.
func BenchmarkDelivery(b *testing.B) {
	s := natstest.NewServer(b).Start()
	log := onDisk(b, 0)
	l := &diskLedger{log: log}
	var batches []events.Batch // of one record each
	for _, batch := range natstest.Source(b, 20_000) {
		for _, r := range batch.Records {
			r.Last = true
			batches = append(batches, events.Batch{Records: []events.Record{r}})
		}
	}
	l.append(b, batches[0])
	p := natstest.Publish(b, s, log)
	p.CaughtUp(b)
	delivered := listen(b, s, cluster)
	<-delivered
	n, next := 300, 1
	if testing.Short() {
		n = 100
	}
	var all []float64
	ours := func() float64 {
		var after []float64
		for range n {
			begin := time.Now()
			l.append(b, batches[next])
			durable := time.Now()
			<-delivered
			after = append(after, float64(time.Since(durable)))
			all = append(all, float64(time.Since(begin)))
			next++
		}
		return sidebyside.Median(after)
	}
	js := s.JetStream()
	if _, err := js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "plain", Subjects: []string{nats.Everything("plain")}}); err != nil {
		b.Fatal(err)
	}
	plain := listen(b, s, "plain")
	message := messagesOf(b, log, "plain")[0]
	message.Header.Del(nats.HeaderMsgID) // it is sent again and again
	theirs := func() float64 {
		var took []float64
		for range n {
			begin := time.Now()
			if _, err := js.PublishMsg(b.Context(), message); err != nil {
				b.Fatal(err)
			}
			<-plain
			took = append(took, float64(time.Since(begin)))
		}
		return sidebyside.Median(took)
	}
	sidebyside.Compare(b, "event", sidebyside.Side{Name: "ours", Cost: ours}, sidebyside.Side{Name: "nats.go", Cost: theirs})
	slices.Sort(all)
	b.ReportMetric(sidebyside.Median(all), "delivered-p50-ns")
	b.ReportMetric(all[len(all)*99/100], "delivered-p99-ns")
}

// listen has a subscriber that takes what is in the stream of a cluster and what is to come.
func listen(b *testing.B, s *natstest.Server, cluster string) <-chan struct{} {
	got := make(chan struct{}, 10_000)
	conn, err := natsgo.Connect(s.URL())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		b.Fatal(err)
	}
	name, err := js.StreamNameBySubject(b.Context(), nats.Everything(cluster))
	if err != nil {
		b.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(b.Context(), name, jetstream.OrderedConsumerConfig{})
	if err != nil {
		b.Fatal(err)
	}
	running, err := consumer.Consume(func(jetstream.Msg) { got <- struct{}{} })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(running.Stop)
	return got
}
