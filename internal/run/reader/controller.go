package reader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/serve"
	"github.com/jobledger/jobledger/internal/say/words"
	"github.com/jobledger/jobledger/store"
)

const (
	askedEach   = 2 * time.Second // how often a controller is asked how far it is
	askedWithin = 2 * time.Second
)

// Controller is the log of a running controller that is asked over HTTP. Make it with NewController.
type Controller struct {
	client *serve.Client
	name   string
	clock  func() time.Time
	logger *slog.Logger

	mu   sync.Mutex
	seen seen
}

// seen is what is known of a controller.
type seen struct {
	record events.Sequence // the newest that it told of; 0 before it answered
	time   events.Time     // of that record
	at     time.Time       // when it answered last, or the start of this process
	gone   error           // why it does not answer; nil while it does
}

// NewController reads by a client, which it takes over. The name is where the controller answers, for people.
func NewController(client *serve.Client, name string, clock func() time.Time, logger *slog.Logger) *Controller {
	c := &Controller{client: client, name: name, clock: clock, logger: logger, seen: seen{at: clock()}}
	client.Away = c.away
	return c
}

// AwayError: no controller answers, so nothing can be answered here.
type AwayError struct {
	Name   string
	Since  time.Time       // when it answered last
	Record events.Sequence // the newest that is known; 0 for none
	Time   events.Time     // of that record
	Cause  error
}

// Error is what is told.
func (e *AwayError) Error() string {
	zone := words.Zone{}
	known := "it has not answered since this reader started, so no record is known"
	if e.Record != 0 {
		known = fmt.Sprintf("the newest record that is known is %d of %s", e.Record, zone.Second(e.Time))
	}
	return fmt.Sprintf("the controller at %s has not answered since %s; %s (%v)",
		e.Name, zone.Second(events.At(e.Since)), known, e.Cause)
}

// Unwrap is why it does not answer.
func (e *AwayError) Unwrap() error { return e.Cause }

// HTTPStatus is the status of an answer that cannot be given.
func (*AwayError) HTTPStatus() int { return http.StatusServiceUnavailable }

// away says since when the controller does not answer, and up to which record its log is known.
func (c *Controller) away(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*AwayError)) {
		return err // of who asked, or told already
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &AwayError{Name: c.name, Since: c.seen.at, Record: c.seen.record, Time: c.seen.time, Cause: err}
}

// Open is described by Log. It fails with an AwayError while the controller is known not to answer.
func (c *Controller) Open(_ context.Context, d *store.Damage, _ func(string)) (Opened, error) {
	c.mu.Lock()
	gone := c.seen.gone
	c.mu.Unlock()
	if gone != nil {
		return Opened{}, c.away(gone)
	}
	client := c.client.Noting(d)
	return Opened{Source: kept{client}, NotListed: func(ctx context.Context) string {
		info, _ := client.Info(ctx) // with an error there is only no note
		return info.NotListed
	}}, nil
}

// kept is a client whose connections outlive a request.
type kept struct{ *serve.Client }

func (kept) Close() {}

// Run is described by Log: it asks the controller how far it is.
func (c *Controller) Run(ctx context.Context) error {
	defer c.client.Close()
	tick := time.NewTicker(askedEach)
	defer tick.Stop()
	for {
		c.look(ctx)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// look asks once.
func (c *Controller) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askedWithin)
	defer cancel()
	info, err := c.client.Info(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch was := c.seen.gone; {
	case errors.Is(err, context.Canceled):
	case err != nil:
		var away *AwayError
		if errors.As(err, &away) {
			err = away.Cause
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s", askedWithin)
		}
		if c.seen.gone = err; was == nil {
			c.logger.Warn("the controller does not answer", "at", c.name, "error", err)
		}
	default:
		if was != nil {
			c.logger.Info("the controller answers again", "at", c.name, "record", uint64(info.Sequence))
		}
		c.seen = seen{record: info.Sequence, time: events.Time(info.Time), at: c.clock()}
	}
}
