package publish_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/publish"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/dev/natstest"
)

// problem waits until a publisher reports a problem.
func problem(t *testing.T, p *natstest.Publisher, want string) {
	t.Helper()
	natstest.Eventually(t, "it says "+want, func() error {
		if st := p.Status(); !strings.Contains(st.Problem, want) {
			return fmt.Errorf("status %+v", st)
		}
		return nil
	})
}

// TestAStreamThatIsFullStopsItAndRoomLetsItGoOn: messages have different sizes, so one that fits may come after one
// that does not.
func TestAStreamThatIsFullStopsItAndRoomLetsItGoOn(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 3000).Grow(0)
	js := s.JetStream()
	c := jetstream.StreamConfig{
		Name: stream, Subjects: []string{nats.Everything(cluster)}, Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, MaxBytes: 700_000,
	}
	if _, err := js.CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p := natstest.Publish(t, s, l.Log)
	problem(t, p, "maximum bytes exceeded")
	if st := p.Status(); st.Acked < 100 || st.Lag < 100 {
		t.Fatalf("it is full after %d messages, with %d to come", st.Acked, st.Lag)
	}
	c.MaxBytes = -1
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

func TestAServerWithoutRoomStopsItAndRoomLetsItGoOn(t *testing.T) {
	limit := int64(1 << 20)
	s := natstest.NewServer(t, func(o *natsd.Options) { o.JetStreamMaxStore = limit }).Start()
	l := natstest.NewLedger(t, 3000).Grow(0)
	p := natstest.Publish(t, s, l.Log)
	problem(t, p, "insufficient")
	s.Stop()
	limit = 1 << 30
	s.Start()
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

func TestARefusedStreamIsTakenWhenItIsMended(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 500).Grow(0)
	js := s.JetStream()
	c := jetstream.StreamConfig{Name: stream, Subjects: []string{nats.Everything(cluster), "orders.>"}, Storage: jetstream.FileStorage}
	if _, err := js.CreateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p := natstest.Publish(t, s, l.Log)
	problem(t, p, "stream jobledger-test is refused: its subjects are")
	if got := messages(t, s); len(got) != 0 {
		t.Errorf("%d messages went to a refused stream", len(got))
	}
	c.Subjects = c.Subjects[:1]
	if _, err := js.UpdateStream(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

func TestWhoMayNotPublishSaysSo(t *testing.T) {
	s := natstest.NewServer(t, func(o *natsd.Options) {
		o.Users = []*natsd.User{{Username: "me", Permissions: &natsd.Permissions{
			Publish: &natsd.SubjectPermission{Deny: []string{nats.Prefix + ".>"}},
		}}}
		o.NoAuthUser = "me"
	}).Start()
	p := natstest.Publish(t, s, natstest.NewLedger(t, 500).Grow(0).Log, func(c *publish.Config) { c.AckTimeout = 200 * time.Millisecond })
	problem(t, p, "ermission")
}

func TestAServerWithoutJetStreamSaysSo(t *testing.T) {
	s := natstest.NewServer(t, func(o *natsd.Options) { o.JetStream = false }).Start()
	p := natstest.Publish(t, s, natstest.NewLedger(t, 500).Grow(0).Log, func(c *publish.Config) { c.AckTimeout = 200 * time.Millisecond })
	problem(t, p, "JetStream")
}

// TestASlowSubscriberSlowsNobody: the subscriber has its own consumer, and takes nothing.
func TestASlowSubscriberSlowsNobody(t *testing.T) {
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, 2000).Grow(10)
	p := natstest.Publish(t, s, l.Log)
	p.CaughtUp(t)
	got, err := s.JetStream().Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := got.CreateConsumer(t.Context(), jetstream.ConsumerConfig{Durable: "slow", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: 1})
	if err != nil {
		t.Fatal(err)
	}
	iter, err := consumer.Messages()
	if err != nil {
		t.Fatal(err)
	}
	defer iter.Stop()
	if _, err := iter.Next(); err != nil { // and never acknowledged
		t.Fatal(err)
	}
	l.Grow(0)
	p.CaughtUp(t)
	wantWhole(t, s, l.Log)
}

// TestHoweverOftenTheConnectionBreaksTheStreamIsTheLog cuts connections at random places: either a message is lost
// before the server, or its acknowledgement after it. The window is small, and the window for duplicates is over at
// once, so neither of them keeps the order.
func TestHoweverOftenTheConnectionBreaksTheStreamIsTheLog(t *testing.T) {
	records := 5000
	if effort.IsLong() {
		records = 100_000
	}
	s, l := natstest.NewServer(t).Start(), natstest.NewLedger(t, records)
	js := s.JetStream()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: stream, Subjects: []string{nats.Everything(cluster)}, Storage: jetstream.FileStorage, Duplicates: 100 * time.Millisecond,
	}); err != nil {
		t.Fatal(err)
	}
	proxy := newCutter(t, s)
	p := natstest.Publish(t, s, l.Log, func(c *publish.Config) {
		c.Dial.URL = proxy.url
		c.AckTimeout, c.Retry = 500*time.Millisecond, 10*time.Millisecond
	})
	for len(l.Left) > 0 {
		l.Grow(int(l.Log.Head().Sequence) + 250)
		at := p.Status().Acked
		natstest.Eventually(t, "some get through", func() error {
			if st := p.Status(); st.Acked <= at && st.Lag > 0 {
				return fmt.Errorf("status %+v", st)
			}
			return nil
		})
	}
	cuts := proxy.heal()
	p.CaughtUp(t)
	if st := p.Status(); cuts < 5 || st.Retreats < 5 {
		t.Errorf("the connection was cut %d times, and publishing went back %d times: this proves little", cuts, st.Retreats)
	}
	t.Logf("%d cuts, %d retreats", cuts, p.Status().Retreats)
	wantWhole(t, s, l.Log)
}
