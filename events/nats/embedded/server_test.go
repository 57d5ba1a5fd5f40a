package embedded_test

import (
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// TestWhoOnlyConnectsKeepsNobodyOfThisProcessOut: before the publisher connects, a client without a secret opens more
// connections than are allowed.
func TestWhoOnlyConnectsKeepsNobodyOfThisProcessOut(t *testing.T) {
	var said lockedText
	s, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0", Logger: slog.New(slog.NewTextHandler(&said, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, address, _ := strings.Cut(s.URL(), "://")
	for range 700 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	_, js := connect(t, "", s.Options()...)
	if _, err := js.AccountInfo(t.Context()); err != nil {
		t.Errorf("the publisher is kept out: %v", err)
	}
	if lines := strings.Count(said.String(), "\n"); lines > 10 {
		t.Errorf("it says %d lines:\n%.2000s", lines, said.String())
	}
}

// TestWhoOnlyConnectsKeepsNoReaderOut: a client without a secret opens more connections than are allowed. A reader logs
// in all the same, and stays connected when as many come again.
func TestWhoOnlyConnectsKeepsNoReaderOut(t *testing.T) {
	dir := t.TempDir()
	s, err := embedded.Start(embedded.Config{
		Dir: dir, Listen: "127.0.0.1:0", ReaderSecret: filepath.Join(dir, "reader"), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	secret, err := os.ReadFile(filepath.Join(dir, "reader"))
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(s.URL(), "://")
	silent := func() {
		for range 600 {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}
	silent()
	reader, _ := connect(t, s.URL(), natsgo.UserInfo(embedded.Reader, strings.TrimSpace(string(secret))), natsgo.NoReconnect())
	silent()
	if err := reader.FlushTimeout(time.Minute); err != nil {
		t.Errorf("a reader that has logged in is put out: %v", err)
	}
}

// TestAnEmptySecretIsMadeAnew: the disk was full, or the machine stopped, when the secret was to be written.
func TestAnEmptySecretIsMadeAnew(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, embedded.Reader)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := embedded.Start(embedded.Config{Dir: dir, Listen: "127.0.0.1:0", ReaderSecret: file})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	connect(t, s.URL(), as(t, embedded.Reader, dir))
}

// lockedText is the text written so far. It is safe for concurrent use.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
