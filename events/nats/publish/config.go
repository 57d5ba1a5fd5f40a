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

// Consumer is the name under which the log stores how far it is published.
const Consumer = "nats"

// Config configures a Publisher. Log and Cluster are required.
type Config struct {
	Log     store.Log
	Cluster string // in subjects; controllers that share a NATS account need different names

	Dial    dial.Config     // address and credentials
	Options []natsgo.Option // additional options of the connection, such as a server in this process

	Stream      StreamConfig // used if the stream does not exist
	Core        bool         // publish over core NATS, without a stream
	ContentType string       // nats.Protobuf or nats.JSON; empty means nats.Protobuf

	MaxInFlight      int // messages sent and not acknowledged; 0 means 4096
	MaxInFlightBytes int // their total size; 0 means 8 MiB

	AckTimeout time.Duration // limit for an acknowledgement; 0 means 5 s
	Retry      time.Duration // longest pause before a retry; 0 means 5 s
	Look       time.Duration // interval of checks of the stream, also when nothing is published; 0 means 5 s

	// Diverged is called once when the stream proves that the log has lost records: the stream has records of this log
	// that the log lacks, or others in their place. Nothing is published any more then. May be nil.
	Diverged func(*DivergedError)

	Logger *slog.Logger // nil for the default
}

const (
	defaultInFlight      = 4096
	defaultInFlightBytes = 8 << 20
	defaultAckTimeout    = 5 * time.Second
	defaultRetry         = 5 * time.Second
	defaultLook          = 5 * time.Second
	firstPause           = 50 * time.Millisecond // shortest pause before a retry
)

// validate sets defaults and refuses invalid combinations.
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
