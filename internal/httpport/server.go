package httpport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Config says what to serve and where. Address and Handler are required.
type Config struct {
	Address string // host and port; port 0 is any
	Handler http.Handler
	Logger  *slog.Logger // nil for the default
	// Connections is how many may be open at once; 0 means 256.
	Connections int
	// Answer is how long an answer may take; 0 for no bound: one that goes on for as long as it is read.
	Answer time.Duration
	TLS    *tls.Config // nil for plain HTTP
}

const (
	defaultConnections = 256
	askWithin          = 10 * time.Second // a whole request, once its connection is there
	silentFor          = time.Minute      // a connection between two requests
	mostHeader         = 16 << 10         // bytes
	sayEvery           = time.Minute
)

// Server answers on one port.
type Server struct {
	listener net.Listener
	server   *http.Server
	logger   *slog.Logger
	url      string

	mu    sync.Mutex
	most  int
	open  map[net.Conn]connection
	said  time.Time // when it was last logged that there were too many
	count int       // of those that were closed for others since
}

// connection is what is known of one.
type connection struct {
	active bool // a request is being answered
	since  time.Time
}

// Listen takes the port. Nothing is answered before Run.
func Listen(c Config) (*Server, error) {
	listener, err := net.Listen("tcp", c.Address)
	if err != nil {
		return nil, err
	}
	return on(listener, c), nil
}

// on is a server on a port that was taken.
func on(listener net.Listener, c Config) *Server {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Connections == 0 {
		c.Connections = defaultConnections
	}
	s := &Server{listener: listener, logger: c.Logger, most: c.Connections, open: map[net.Conn]connection{}}
	s.url = "http://" + listener.Addr().String()
	if c.TLS != nil {
		s.url = "https://" + listener.Addr().String()
		s.listener = tls.NewListener(listener, c.TLS)
	}
	s.server = &http.Server{
		Handler: c.Handler, ReadHeaderTimeout: askWithin, WriteTimeout: c.Answer, IdleTimeout: silentFor,
		MaxHeaderBytes: mostHeader, ErrorLog: slog.NewLogLogger(c.Logger.Handler(), slog.LevelWarn), ConnState: s.track,
	}
	if c.Answer > 0 { // it would end an answer that goes on as well
		s.server.ReadTimeout = askWithin + c.Answer
	}
	return s
}

// URL is where the server answers.
func (s *Server) URL() string { return s.url }

// Run answers until Close or Shutdown is called.
func (s *Server) Run() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.url, err)
	}
	return nil
}

// Shutdown stops taking requests, waits within ctx for answers that are being given, and cuts off the others.
func (s *Server) Shutdown(ctx context.Context) error {
	if s.server.Shutdown(ctx) != nil {
		return s.server.Close() // who reads that slowly loses the answer
	}
	return nil
}

// track counts connections, and closes one where there are too many.
func (s *Server) track(conn net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(s.open, conn)
		return
	case http.StateNew, http.StateActive, http.StateIdle:
	}
	s.open[conn] = connection{active: state == http.StateActive, since: time.Now()}
	for len(s.open) > s.most {
		s.closeOneFor(conn)
	}
}

// closeOneFor closes the connection that has been without a request longest; where all have one, the newest.
func (s *Server) closeOneFor(newest net.Conn) {
	victim := newest
	var since time.Time
	for conn, c := range s.open {
		if conn != newest && !c.active && (since.IsZero() || c.since.Before(since)) {
			victim, since = conn, c.since
		}
	}
	delete(s.open, victim)
	if t, ok := victim.(*tls.Conn); ok {
		victim = t.NetConn() // without a farewell, which might wait
	}
	_ = victim.Close()
	s.count++
	if now := time.Now(); now.Sub(s.said) > sayEvery {
		s.logger.Warn("too many connections: those without a request are closed", "at", s.url, "most", s.most, "closed", s.count)
		s.said, s.count = now, 0
	}
}
