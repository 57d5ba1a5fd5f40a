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

// Server is a NATS server that runs until Close. After its disk was full, it restarts itself once there is space,
// because the NATS server does not resume writing to the stream. Clients see a broken connection.
type Server struct {
	config  Config
	secrets map[string]string // by user
	door    *door

	end  context.CancelFunc
	kept chan struct{} // closed when keep has ended

	mu  sync.Mutex
	now *life // the running server; nil during a restart
}

const (
	keepEvery  = time.Second
	enoughRoom = 16 << 20 // bytes
)

// Start starts a NATS server in this process, and returns when the server answers.
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
	// Let in clients from outside last, when the connections that this process needs itself are open
	if s.door, err = openDoor(listen, s.InProcessConn, c.Logger); err != nil {
		s.now.close()
		return nil, err
	}
	var ctx context.Context
	ctx, s.end = context.WithCancel(context.Background())
	go s.keep(ctx) // ends with Close
	return s, nil
}

// keep restarts the server when it has failed to write its stream and there is space on the disk again.
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

// hurt reports whether the server has failed to write its stream: it then writes nothing until it is restarted.
func (s *life) hurt() bool { return s.log.hurt.Load() || !s.server.JetStreamEnabled() }

// again stops the server and starts it again. Only keep calls it.
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

// URL returns the URL at which subscribers connect.
func (s *Server) URL() string { return s.door.url() }

// Options returns the options to connect the publisher of this process, without a socket.
func (s *Server) Options() []nats.Option {
	return []nats.Option{nats.InProcessServer(s), nats.UserInfo(publisher, s.secrets[publisher]), nats.CustomInboxPrefix(inbox)}
}

// InProcessConn returns a connection to the current server, without a socket.
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil, errors.New("the NATS server is restarting")
	}
	return s.now.server.InProcessConn()
}

// Close stops the server and waits until its data is on disk.
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
