package embedded_test

import (
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/embedded"
)

func start(t *testing.T, dir string) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(embedded.Config{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func connect(t *testing.T, url string, options ...natsgo.Option) (*natsgo.Conn, jetstream.JetStream) {
	t.Helper()
	conn, err := natsgo.Connect(url, append(options, natsgo.Timeout(time.Minute))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return conn, js
}

func TestSubscribersReadAndCannotForgeOrDestroy(t *testing.T) {
	dir := t.TempDir()
	s := start(t, dir)
	_, js := connect(t, "", s.Options()...)
	subject := nats.Subject{Cluster: "c", Namespace: "n", Kind: nats.KindJob, Name: "j", Event: "JobAdded"}.String()
	config := jetstream.StreamConfig{Name: "records", Subjects: []string{nats.Everything("c")}}
	if _, err := js.CreateStream(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	if _, err := js.Publish(t.Context(), subject, []byte("true")); err != nil {
		t.Fatal(err)
	}

	publisher, _ := connect(t, "", s.Options()...)
	inbox := publisher.NewInbox()

	refused := make(chan error, 100)
	conn, reader := connect(t, s.URL(), natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { refused <- err }))
	consumer, err := reader.CreateConsumer(t.Context(), "records", jetstream.ConsumerConfig{Durable: "mine", AckPolicy: jetstream.AckExplicitPolicy})
	if err != nil {
		t.Fatalf("a subscriber keeps no consumer: %v", err)
	}
	m, err := consumer.Next()
	if err != nil || string(m.Data()) != "true" {
		t.Fatalf("a subscriber reads %v, %v", m, err)
	}
	if err := m.DoubleAck(t.Context()); err != nil {
		t.Fatalf("a subscriber cannot acknowledge: %v", err)
	}
	for _, forbidden := range []string{
		subject, "$JS.API.STREAM.DELETE.records", "$JS.API.STREAM.PURGE.records", "$JS.API.STREAM.UPDATE.records",
		"$JS.API.STREAM.CREATE.other", "$JS.API.STREAM.MSG.DELETE.records", "$JS.API.STREAM.RESTORE.records",
		inbox, // a forged acknowledgement: what it is about would be taken for stored
	} {
		if err := conn.Publish(forbidden, nil); err != nil {
			t.Fatal(err)
		}
		if err := <-refused; !strings.Contains(err.Error(), forbidden) {
			t.Errorf("a subscriber may publish to %s: %v", forbidden, err)
		}
	}
	if _, err := conn.SubscribeSync(inbox); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; !strings.Contains(err.Error(), inbox) {
		t.Errorf("a subscriber may listen at %s: %v", inbox, err)
	}

	s.Close()
	again := start(t, dir)
	_, js = connect(t, "", again.Options()...)
	stream, err := js.Stream(t.Context(), "records")
	if err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Errorf("after a restart: %v", err)
	}
}

func TestItServesLoopbackOnly(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:4222", ":4222", "example.com:4222", "10.0.0.1:0", "127.0.0.1", "127.0.0.1:x"} {
		if s, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Listen: listen}); err == nil {
			s.Close()
			t.Errorf("it listens on %s", listen)
		}
	}
	if _, err := embedded.Start(embedded.Config{}); err == nil {
		t.Error("it starts without a directory")
	}
}

func TestAnAddressThatIsTakenIsSaid(t *testing.T) {
	s := start(t, t.TempDir())
	_, address, _ := strings.Cut(s.URL(), "://")
	if again, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Listen: address}); err == nil {
		again.Close()
		t.Error("two servers have one address")
	} else if !strings.Contains(err.Error(), address) {
		t.Errorf("the address is not said: %v", err)
	}
}
