package httpport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
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

	answers bool   // that take long are ended
	many    seldom // says that there are too many

	mu   sync.Mutex
	most int
	open map[net.Conn]connection
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
	s := &Server{listener: listener, logger: c.Logger, answers: c.Answer > 0, most: c.Connections, open: map[net.Conn]connection{}}
	s.url = "http://" + listener.Addr().String()
	if c.TLS != nil {
		s.url = "https://" + listener.Addr().String()
		s.listener = tls.NewListener(listener, c.TLS)
	}
	s.server = &http.Server{
		Handler: bodiless(c.Handler), ReadHeaderTimeout: askWithin, WriteTimeout: c.Answer, IdleTimeout: silentFor,
		MaxHeaderBytes: mostHeader, ErrorLog: log.New(&complaints{logger: c.Logger}, "", 0), ConnState: s.track,
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

// fresh: a connection without a request that is younger than this may be about to send one.
const fresh = time.Second

// closeOneFor closes the connection that has been without a request longest. Where all have one, or are fresh, it
// closes the one whose answer takes longest, because its client does not read; or the newest, where answers may go on.
func (s *Server) closeOneFor(newest net.Conn) {
	longest := func(active bool) (victim net.Conn, since time.Time) {
		for conn, c := range s.open {
			if conn != newest && c.active == active && (victim == nil || c.since.Before(since)) {
				victim, since = conn, c.since
			}
		}
		return victim, since
	}
	victim, since := longest(false)
	if victim == nil || time.Since(since) < fresh {
		if slow, _ := longest(true); slow != nil && s.answers {
			victim = slow
		}
	}
	if victim == nil {
		victim = newest
	}
	delete(s.open, victim)
	if t, ok := victim.(*tls.Conn); ok {
		victim = t.NetConn() // without a farewell, which might wait
	}
	_ = victim.Close()
	s.many.say(s.logger, "too many connections: the most silent and the slowest are closed", "at", s.url, "most", s.most)
}

// bodiless refuses requests with a body, which none of ours has: the server would wait for it after the answer, and
// whoever sends 256 of them and no body would keep everybody else out.
func bodiless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		http.Error(w, "a request without a body is wanted", http.StatusRequestEntityTooLarge)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // what comes of it is not waited for
	})
}
