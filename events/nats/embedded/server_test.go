package embedded_test

import (
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
