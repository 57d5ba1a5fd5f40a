package controller

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/joblist"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/wire/httpport"
)

// endpoint is the HTTP port that answers readers of the log, probes and scrapers on this machine.
type endpoint struct {
	*httpport.Server
	file string // file in the log's directory with the endpoint's address, for readers
	done chan struct{}
}

// answer opens the port for readers if the config asks for it and it is not open yet. Requests wait until the method
// tend runs, and are then answered.
func (c *controller) answer() (err error) {
	if c.config.Listen != "" && c.endpoint == nil {
		c.endpoint, err = c.newEndpoint()
	}
	return err
}

// newEndpoint opens the port for readers on this machine. The caller writes its address to a file in the log's
// directory.
func (c *controller) newEndpoint() (*endpoint, error) {
	e := &endpoint{file: filepath.Join(c.lists.Dir, serve.AddressFile), done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.Handle("/v1/", serve.Handler(serve.Config{
		Log: c.lists.Log, Now: c.now, Lists: joblist.New(c.lists), Damage: c.damage, PID: os.Getpid(), Version: c.config.Program.Version, Done: e.done,
		NotListed: c.health.notListed,
	}))
	c.health.serve(mux, c.registry, nil)
	var err error
	e.Server, err = httpport.Listen(httpport.Config{Address: c.config.Listen, Handler: serve.Guard(mux), Logger: c.logger})
	if err != nil {
		return nil, fmt.Errorf("%w (--listen=127.0.0.1:0 takes any free port, --listen= none)", err)
	}
	return e, nil
}

// now returns the time by the controller's clock. Before the loop runs, a standby (a process that waits to take over)
// returns the leader's time, or the time of the newest record. A controller that shares its log with no other returns 0
// until then.
func (c *controller) now() events.Time {
	if clock := c.clock.Load(); clock != nil {
		return clock.Now()
	}
	if c.standby != nil {
		return max(c.standby.Now(), c.log.Head().Time)
	}
	if c.member != nil {
		return c.log.Head().Time
	}
	return 0
}

// close stops the port: it ends the answers that wait for new records, waits until ctx ends for the other answers, and
// removes the file with the port's address.
func (e *endpoint) close(ctx context.Context) error {
	close(e.done)
	err := os.Remove(e.file)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, e.Shutdown(ctx))
}
