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
	Cluster = "test"           // whose records are published
	Stream  = "jobledger-test" // where they are, unless a test says otherwise
)

// Server is a real server in this process, or in one of its own (Apart), which can go away and come back at its
// address. With the program of package natsd in JOBLEDGER_NATSD, each that is not tuned has a process of its own.
type Server struct {
	Dir  string        // of its store
	Port int           // it keeps it
	Run  *natsd.Server // nil while it is stopped, or runs apart

	t       testing.TB
	tune    func(*natsd.Options)
	apart   bool
	peers   []string // of a server apart that is one of a cluster: see natsserver.Cluster
	process *process // where it runs apart; nil while it is stopped
}

// NewServer gives one that does not run yet, and stops with the test.
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

// Inside tunes nothing: the server stays in the process of a test that looks into it by Server.Run.
func Inside(*natsd.Options) {}

// FreePort returns a port on which nothing listens. No other caller is given it until the test ends.
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

// URL is where it answers.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.Port) }

// Start starts it, with the store that it had, and returns when it answers.
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

// Stop stops it, if it runs, and returns when its store is closed.
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

// JetStream is that of a connection of its own, which ends with the test.
func (s *Server) JetStream(options ...natsgo.Option) jetstream.JetStream {
	s.t.Helper()
	return JetStream(s.t, s.URL(), options...)
}

// JetStream is that of a connection to one of these servers, which ends with the test.
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

// AtOnce makes a connection that broke come back at once.
func AtOnce() natsgo.Option {
	return natsgo.CustomReconnectDelay(func(int) time.Duration { return 10 * time.Millisecond })
}

// Eventually waits until a condition holds.
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
