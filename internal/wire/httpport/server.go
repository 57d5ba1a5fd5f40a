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

// Config has the settings of a Server. Address and Handler are required.
type Config struct {
	Address string // host and port; port 0 means any free port
	Handler http.Handler
	Logger  *slog.Logger // nil for slog.Default
	// Connections is the largest number of open connections; 0 means 256.
	Connections int
	// Answer is the longest time for writing an answer. 0 means no limit: an answer may last as long as the client
	// reads.
	Answer time.Duration
	TLS    *tls.Config // nil for plain HTTP
}

const (
	defaultConnections = 256
	askWithin          = 10 * time.Second // time in which a request must arrive
	silentFor          = time.Minute      // how long a connection may be idle
	mostHeader         = 16 << 10         // largest header of a request, in bytes
	sayEvery           = time.Minute
)

// Server serves HTTP on one port, with a limited number of connections.
type Server struct {
	listener net.Listener
	server   *http.Server
	logger   *slog.Logger
	url      string

	answers bool   // Config.Answer is set: answers have a time limit
	many    seldom // logs that there are too many connections

	mu   sync.Mutex
	most int
	open map[net.Conn]connection
}

// connection is the state of one open connection.
type connection struct {
	active bool // a request is arriving, or being answered
	since  time.Time
}

// Listen opens the port. Requests are answered once Run is called.
func Listen(c Config) (*Server, error) {
	listener, err := net.Listen("tcp", c.Address)
	if err != nil {
		return nil, err
	}
	return on(listener, c), nil
}

// on returns a server that accepts connections from listener.
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
	if c.Answer > 0 { // without Answer, an answer may take any time, and so the whole request has no limit
		s.server.ReadTimeout = askWithin + c.Answer
	}
	return s
}

// URL returns the base URL of the server.
func (s *Server) URL() string { return s.url }

// Run accepts connections and answers requests, until Shutdown is called.
func (s *Server) Run() error {
	if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", s.url, err)
	}
	return nil
}

// Shutdown stops the server: it accepts no more requests, waits for the answers that are being written until ctx ends,
// and then closes their connections.
func (s *Server) Shutdown(ctx context.Context) error {
	if s.server.Shutdown(ctx) != nil {
		return s.server.Close() // ctx has ended: slow clients lose the rest of their answers
	}
	return nil
}

// track is called when the state of a connection changes. If more connections are open than allowed, it closes one.
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

// fresh is a time of idleness. A connection that is idle for less is closed only if no slow answer can be ended in
// its place, because its client may be about to send a request.
const fresh = time.Second

// closeOneFor closes a connection, because newest is one too many: the connection that has been idle longest. If that
// is idle for less than a second, or none is idle, it rather closes the one with the longest answer, whose client does
// not read; but only if answers have a time limit. If it finds none, it closes newest.
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
		// Close the TCP connection below, because TLS would first send a close_notify, which might block.
		victim = t.NetConn()
	}
	_ = victim.Close()
	s.many.say(s.logger, "too many connections: the most silent and the slowest are closed", "at", s.url, "most", s.most)
}

// bodiless refuses requests with a body, which nobody needs to send here. Otherwise the server would wait for the
// body after the answer, and a client with 256 unfinished bodies could lock out all others.
func bodiless(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength == 0 {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		http.Error(w, "a request without a body is wanted", http.StatusRequestEntityTooLarge)
		_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // the server then does not wait for the body
	})
}
