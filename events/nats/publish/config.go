package publish

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
	"github.com/jobledger/jobledger/store"
)

// Consumer is the name under which the log keeps how far the stream has got.
const Consumer = "nats"

// Config says what to publish, where and how. Log and Cluster are required.
type Config struct {
	Log     store.Log
	Cluster string // as subjects name it; controllers that share a NATS account have different ones

	Dial    dial.Config     // where and as whom
	Options []natsgo.Option // for the connection, beside what Dial says: a server in this process

	Stream      StreamConfig // the stream, should it have to be made
	Core        bool         // publish over core NATS, without a stream
	ContentType string       // nats.Protobuf, also when it is empty, or nats.JSON

	MaxInFlight      int // messages that were sent and not acknowledged; 4096 when it is 0
	MaxInFlightBytes int // likewise; 8 MiB when it is 0

	AckTimeout time.Duration // how long an acknowledgement may take; 5 s when it is 0
	Retry      time.Duration // the longest pause before it is tried again; 5 s when it is 0
	Look       time.Duration // how often the stream is looked at, also when there is nothing to publish; 5 s when it is 0

	// Diverged is told, once, that the stream has records of this log that the log does not have, or others in their
	// place. Nothing is published any more. May be nil.
	Diverged func(*DivergedError)

	Logger *slog.Logger // nil for the default
}

const (
	defaultInFlight      = 4096
	defaultInFlightBytes = 8 << 20
	defaultAckTimeout    = 5 * time.Second
	defaultRetry         = 5 * time.Second
	defaultLook          = 5 * time.Second
	firstPause           = 50 * time.Millisecond // the shortest
)

// validate refuses what cannot work, and sets defaults.
func (c *Config) validate() (err error) {
	switch {
	case c.Log == nil:
		return errors.New("publish on NATS: no log")
	case c.Cluster == "":
		return errors.New("publish on NATS: the cluster has no name")
	case c.ContentType != "" && c.ContentType != nats.Protobuf && c.ContentType != nats.JSON:
		return fmt.Errorf("publish on NATS: data of type %q: want %s or %s", c.ContentType, nats.Protobuf, nats.JSON)
	case c.MaxInFlight < 0 || c.MaxInFlightBytes < 0 || c.AckTimeout < 0 || c.Retry < 0 || c.Look < 0:
		return errors.New("publish on NATS: a bound is negative")
	}
	if c.Dial, err = c.Dial.Load(); err != nil {
		return err
	}
	if err := c.Stream.validate(c.Cluster); err != nil {
		return err
	}
	if c.MaxInFlight == 0 {
		c.MaxInFlight = defaultInFlight
	}
	if c.MaxInFlightBytes == 0 {
		c.MaxInFlightBytes = defaultInFlightBytes
	}
	if c.AckTimeout == 0 {
		c.AckTimeout = defaultAckTimeout
	}
	if c.Retry == 0 {
		c.Retry = defaultRetry
	}
	if c.Look == 0 {
		c.Look = defaultLook
	}
	if c.Diverged == nil {
		c.Diverged = func(*DivergedError) {}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return nil
}
