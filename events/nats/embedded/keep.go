package embedded

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Server is one that runs until Close. When its disk was full, it starts anew by itself as soon as there is room: the
// server would not write that stream again. Clients see that as a connection that breaks.
type Server struct {
	config  Config
	secrets map[string]string // by user
	door    *door

	end  context.CancelFunc
	kept chan struct{} // closed when keep has ended

	mu  sync.Mutex
	now *life // nil between two
}

const (
	keepEvery  = time.Second
	enoughRoom = 16 << 20 // bytes
)

// Start starts a server, and returns when it answers.
func Start(c Config) (*Server, error) {
	s, err := start(c)
	if err != nil {
		return nil, fmt.Errorf("start NATS server: %w", err)
	}
	return s, nil
}

func start(c Config) (*Server, error) {
	if c.Dir == "" {
		return nil, errors.New("no directory")
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	s := &Server{config: c, secrets: map[string]string{publisher: rand.Text(), gatekeeper: rand.Text()}, kept: make(chan struct{})}
	for user, path := range map[string]string{Reader: c.ReaderSecret, Owner: c.OwnerSecret} {
		if path == "" {
			continue
		}
		var err error
		if s.secrets[user], err = secretIn(path); err != nil {
			return nil, err
		}
	}
	listen, err := address(c.Listen)
	if err != nil {
		return nil, err
	}
	if s.now, err = begin(&s.config, s.secrets); err != nil {
		return nil, err
	}
	if s.door, err = openDoor(listen, s.InProcessConn, c.Logger); err != nil { // the last thing: the publisher and the gate are in
		s.now.close()
		return nil, err
	}
	var ctx context.Context
	ctx, s.end = context.WithCancel(context.Background())
	go s.keep(ctx) // ends with Close
	return s, nil
}

// keep starts the server anew when it does not write any more, and could.
func (s *Server) keep(ctx context.Context) {
	defer close(s.kept)
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if s.now != nil && !s.now.hurt() || !room(s.config.Dir) {
			continue
		}
		if err := s.again(); err != nil {
			s.config.Logger.Warn("the NATS server does not restart; trying again", "error", err)
		}
	}
}

// hurt reports whether the server needs a new start to write again.
func (s *life) hurt() bool { return s.log.hurt.Load() || !s.server.JetStreamEnabled() }

// again ends the server and starts it anew. Only keep calls it.
func (s *Server) again() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.config.Logger.Warn("the NATS server could not write its stream, and there is room on its disk: restarting it")
		s.now.close()
		s.now = nil
	}
	var err error
	s.now, err = begin(&s.config, s.secrets)
	return err
}

// URL is where subscribers connect to.
func (s *Server) URL() string { return s.door.url() }

// Options connect the publisher of this process, without a socket.
func (s *Server) Options() []nats.Option {
	return []nats.Option{nats.InProcessServer(s), nats.UserInfo(publisher, s.secrets[publisher]), nats.CustomInboxPrefix(inbox)}
}

// InProcessConn is a connection without a socket to the server that runs now.
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil, errors.New("the NATS server is restarting")
	}
	return s.now.server.InProcessConn()
}

// Close stops the server and waits until what it holds is on disk.
func (s *Server) Close() {
	s.door.close()
	s.end()
	<-s.kept
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.close()
		s.now = nil
	}
}
