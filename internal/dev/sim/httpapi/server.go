package httpapi

import (
	"context"
	"io"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/world"
)

// Config says what a Server serves, and how; only World is required.
type Config struct {
	// World is the world to serve. After New, use it only through [Server.Do].
	World *world.World
	// MaxPage limits the objects on a page of a list, if the client sets a limit, too; 0: only the client limits them.
	MaxPage int
	// Writes receives a line for each request that is not a read, before the request is carried out: METHOD PATH BODY,
	// with the body as JSON. Lines are written one at a time. May be nil.
	Writes io.Writer
	// Forbid makes the server answer every request except /version with 403, as for a user without a role.
	Forbid bool
	// ForbidKind makes the server answer requests for one resource with 403; empty for none.
	ForbidKind apiserver.Kind
}

// Server serves a world. Create it with New, and Close it.
type Server struct {
	URL string

	cfg  Config
	http *httptest.Server
	stop chan struct{} // closed by Close
	wake chan struct{} // receives a value when something may be due earlier than the method run expects

	mu      sync.Mutex
	world   *world.World
	client  *apiserver.Client
	version uint64        // resource version up to which watches were told
	changed chan struct{} // closed and replaced when version grows
}

// New serves a world over HTTP. From now on the world's clock follows the machine's clock.
func New(cfg Config) *Server {
	s := &Server{
		cfg: cfg, world: cfg.World, client: cfg.World.Server.Client(Actor),
		stop: make(chan struct{}), wake: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	s.client.Faults = cfg.World.Server.AnnotatedFaults()
	s.http = httptest.NewServer(s)
	s.URL = s.http.URL
	go s.run() // this goroutine ends when Close is called
	return s
}

// Close ends all watches and the server.
func (s *Server) Close() {
	close(s.stop)
	s.http.Close()
}

// Do calls fn with exclusive access to the world.
func (s *Server) Do(fn func(*world.World)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	fn(s.world)
	s.settle()
	select {
	case s.wake <- struct{}{}:
	default: // run has not read the previous value yet, so it will wake anyway
	}
}

// settle does everything that is due by now, and wakes the watches if there are new versions.
func (s *Server) settle() {
	for now := time.Now(); ; {
		ran := s.world.Clock.AdvanceTo(now)
		if happened := s.world.Settle(); !happened && ran == 0 {
			break
		}
	}
	if v := s.world.Server.Version(); v != s.version {
		s.version = v
		close(s.changed)
		s.changed = make(chan struct{})
	}
}

// run lets time pass in the world until Close.
func (s *Server) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.wake:
		case <-s.stop:
			return
		}
		s.mu.Lock()
		s.settle()
		if next := s.world.Clock.Next(); next != nil {
			timer.Reset(time.Until(next.Due))
		}
		s.mu.Unlock()
	}
}

// Await waits until ok(world) is true, or ctx ends.
func (s *Server) Await(ctx context.Context, ok func(*world.World) bool) error {
	for {
		s.mu.Lock()
		s.settle()
		done, changed := ok(s.world), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
