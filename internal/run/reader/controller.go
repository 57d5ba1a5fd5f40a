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
	askedEach   = 2 * time.Second // time between requests to a controller for its newest record
	askedWithin = 2 * time.Second
)

// Controller is the log of a running controller, which it reads over HTTP for the users of a Reader. Make it with
// NewController.
type Controller struct {
	client *serve.Client
	name   string
	clock  func() time.Time
	logger *slog.Logger

	mu   sync.Mutex
	seen seen
}

// seen is what is known about the controller from its answers.
type seen struct {
	record events.Sequence // newest known record; 0 before the first answer
	time   events.Time     // time of the record
	at     time.Time       // when it answered last; before the first answer, the start of this process
	gone   error           // why it does not answer; nil while it does
}

// NewController returns the log of the controller behind client. Run closes client at its end. name is the controller's
// address, for messages.
func NewController(client *serve.Client, name string, clock func() time.Time, logger *slog.Logger) *Controller {
	c := &Controller{client: client, name: name, clock: clock, logger: logger, seen: seen{at: clock()}}
	client.Away = c.away
	return c
}

// AwayError is returned if the controller does not answer, so that a question cannot be answered.
type AwayError struct {
	Name   string
	Since  time.Time       // time of its last answer
	Record events.Sequence // newest known record; 0 for none
	Time   events.Time     // time of the record
	Cause  error
}

// Error says since when the controller has not answered, and which is the newest known record.
func (e *AwayError) Error() string {
	zone := words.Zone{}
	known := "it has not answered since this reader started, so no record is known"
	if e.Record != 0 {
		known = fmt.Sprintf("the newest record that is known is %d of %s", e.Record, zone.Second(e.Time))
	}
	return fmt.Sprintf("the controller at %s has not answered since %s; %s (%v)",
		e.Name, zone.Second(events.At(e.Since)), known, e.Cause)
}

// Unwrap returns the error of the request that failed.
func (e *AwayError) Unwrap() error { return e.Cause }

// HTTPStatus returns 503: the controller may answer again later.
func (*AwayError) HTTPStatus() int { return http.StatusServiceUnavailable }

// away returns err in an AwayError. It returns err itself if the user's own context ended.
func (c *Controller) away(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, new(*AwayError)) {
		return err // the user's context ended, or it is an AwayError already
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return &AwayError{Name: c.name, Since: c.seen.at, Record: c.seen.record, Time: c.seen.time, Cause: err}
}

// Open implements Log: it gives one request access to the controller's log. It returns an AwayError while the
// controller does not answer.
func (c *Controller) Open(_ context.Context, d *store.Damage, _ func(string)) (Opened, error) {
	c.mu.Lock()
	gone := c.seen.gone
	c.mu.Unlock()
	if gone != nil {
		return Opened{}, c.away(gone)
	}
	client := c.client.Noting(d)
	return Opened{Source: kept{client}, NotListed: func(ctx context.Context) string {
		info, _ := client.Info(ctx) // if it fails, only this note is missing
		return info.NotListed
	}}, nil
}

// kept is a client whose connections outlive a single request: its Close does nothing.
type kept struct{ *serve.Client }

func (kept) Close() {}

// Run implements Log: until ctx ends, it asks the controller every 2 seconds for its newest record.
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

// look asks the controller for its newest record once, and stores the answer or the error.
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
