package natstest

import (
	"fmt"
	"os"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/internal/dev/natsserver"
	"github.com/jobledger/jobledger/internal/dev/patience"
	"github.com/jobledger/jobledger/internal/dev/port"
)

const (
	Cluster = "test"           // name of the cluster in the subjects of the messages
	Stream  = "jobledger-test" // name of the stream, unless a test sets another
)

// Server is a real NATS server, in this process or in one of its own (Apart). It can be stopped and started again at
// the same address. If JOBLEDGER_NATSD names the built natsd, each server without tuned options has a process of its
// own.
type Server struct {
	Dir  string        // directory of its store
	Port int           // the port stays the same when the server is restarted
	Run  *natsd.Server // nil while the server is stopped, or if it runs in a process of its own

	t       testing.TB
	tune    func(*natsd.Options)
	apart   bool
	peers   []string // ports of the cluster's members (see natsserver.Cluster), for a server in a process of its own
	process *process // the server's running process, if it has one of its own; nil while it is stopped
}

// NewServer returns a server that is not started yet. It is stopped when the test ends.
func NewServer(t testing.TB, tune ...func(*natsd.Options)) *Server {
	s := &Server{
		t: t, Dir: t.TempDir(), Port: FreePort(t), tune: Inside, apart: len(tune) == 0 && os.Getenv(program) != "",
	}
	if len(tune) > 0 {
		s.tune = tune[0]
	}
	t.Cleanup(s.Stop)
	return s
}

// Inside changes no options. Pass it to NewServer to keep the server in the test's process, so that Server.Run is set.
func Inside(*natsd.Options) {}

// FreePort returns a port on which nothing listens. No other caller gets it until the test ends.
func FreePort(t testing.TB) int {
	t.Helper()
	held, release, err := port.Hold()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	return held
}

// URL returns the address of the server.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.Port) }

// Start starts the server with the store it had before, and returns when it accepts connections.
func (s *Server) Start() *Server {
	s.t.Helper()
	if s.apart {
		s.startApart()
		return s
	}
	o := natsserver.Options(s.Dir, s.Port)
	s.tune(o)
	run, err := natsd.NewServer(o)
	if err != nil {
		s.t.Fatal(err)
	}
	run.Start()
	if !run.ReadyForConnections(patience.Time()) {
		s.t.Fatal("the NATS server does not start")
	}
	s.Run = run
	return s
}

// Stop stops the server, if it runs, and returns when its store is closed.
func (s *Server) Stop() {
	if s.process != nil {
		s.process.stop(s.t)
		s.process = nil
	}
	if s.Run != nil {
		s.Run.Shutdown()
		s.Run.WaitForShutdown()
		s.Run = nil
	}
}

// JetStream opens a connection to the server, which is closed when the test ends.
func (s *Server) JetStream(options ...natsgo.Option) jetstream.JetStream {
	s.t.Helper()
	return JetStream(s.t, s.URL(), options...)
}

// JetStream opens a connection to one of the servers at urls, which is closed when the test ends.
func JetStream(t testing.TB, urls string, options ...natsgo.Option) jetstream.JetStream {
	t.Helper()
	conn, err := dial.Config{URL: urls}.Connect(append(options, AtOnce())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

// AtOnce makes a broken connection reconnect every 10 ms.
func AtOnce() natsgo.Option {
	return natsgo.CustomReconnectDelay(func(int) time.Duration { return 10 * time.Millisecond })
}

// Eventually calls holds until it returns nil. It fails the test after patience.Time; what says what was awaited.
func Eventually(t testing.TB, what string, holds func() error) {
	t.Helper()
	deadline := time.NewTimer(patience.Time())
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waiting until %s: %v", what, err)
		}
	}
}
