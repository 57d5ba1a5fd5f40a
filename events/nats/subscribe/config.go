package subscribe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
)

// Config configures a subscription. Only Cluster is required.
type Config struct {
	Cluster string // cluster of the controller, as the operator named it
	Stream  string // name of the JetStream stream; empty means the one with the cluster's subjects

	// Filters select events: those that match any of them. Their Cluster is ignored; the one above counts. No two
	// filters may match the same event. Without filters, all events match.
	Filters []nats.Filter

	// Start is where to begin; the zero value is Now. A durable subscription uses it only when it is created.
	Start Start

	// Durable is the name of a subscription that the server stores. The next Run with this name, in any process, goes
	// on after the last event that was handled. Only one Run at a time may use a name. A Run that begins or reconnects
	// checks whether another one requests messages, and waits until that one has ended.
	//
	// The check has two holes: two Runs that check at the same moment do not see each other, nor does a Run see one
	// that stalled for half a minute and then resumes. Until one of them ends or loses its connection, both get every
	// event, in order; an event that the other one acknowledged comes together with the next unacknowledged one.
	Durable string

	// State stores, outside the server, the last event that was handled. If it has an event, Run continues after that
	// event and ignores Start. With nil only the server stores it, and loses it when the stream is deleted.
	State State

	// MaxPending bounds the messages that the server has sent and the function has not handled; 0 means 256. A durable
	// subscription keeps the value from its creation.
	MaxPending int

	// Tries is how often the function may refuse an event before Run returns an error; 0 means without limit. Between
	// tries Run waits FirstPause (0 means 100 ms), doubled each time up to MaxPause (0 means 30 s).
	Tries                int
	FirstPause, MaxPause time.Duration

	// Unreadable is called with a message that cannot be decoded: another client wrote it, or it has a newer version.
	// If Unreadable returns nil, Run goes on after the message; if it was a record, the next event reports that record
	// as missing. If Unreadable returns an error, or is nil itself, Run ends; a durable subscription then begins with
	// that message next time.
	Unreadable func(ctx context.Context, message jetstream.Msg, err *UnreadableError) error

	// Trouble is called with the reason when events cannot be received, and with nil when they can again. Run retries
	// meanwhile.
	Trouble func(error)

	// Notice is called with facts that a person should know but that do not stop events.
	Notice func(Notice)
}

const (
	defaultPending = 256
	firstPause     = 100 * time.Millisecond
	maxPause       = 30 * time.Second

	// ackWait is the time without an acknowledgement or progress report after which the server redelivers a message of
	// a durable subscription.
	ackWait = 15 * time.Second
)

// validate sets defaults and refuses invalid combinations.
func (c *Config) validate() error {
	switch {
	case c.Cluster == "":
		return errors.New("subscribe: the cluster has no name")
	case strings.ContainsAny(c.Durable, ".*>/\\ \t\r\n"):
		return fmt.Errorf("subscribe: a durable subscription cannot be called %q", c.Durable)
	case c.MaxPending < 0 || c.Tries < 0 || c.FirstPause < 0 || c.MaxPause < 0:
		return errors.New("subscribe: a bound is negative")
	}
	filters := make([]nats.Filter, len(c.Filters))
	for i, f := range c.Filters {
		f.Cluster = c.Cluster
		for _, before := range filters[:i] {
			if overlap(before, f) {
				return fmt.Errorf("subscribe: the filters %s and %s select the same events: want such that do not", before, f)
			}
		}
		filters[i] = f
	}
	c.Filters = filters
	if c.MaxPending == 0 {
		c.MaxPending = defaultPending
	}
	if c.FirstPause == 0 {
		c.FirstPause = firstPause
	}
	if c.MaxPause == 0 {
		c.MaxPause = maxPause
	}
	if c.Trouble == nil {
		c.Trouble = func(error) {}
	}
	if c.Notice == nil {
		c.Notice = func(Notice) {}
	}
	return nil
}

// overlap reports whether an event can match both filters.
func overlap(a, b nats.Filter) bool {
	either := func(x, y string) bool { return x == y || x == "" || y == "" }
	return either(a.Namespace, b.Namespace) && either(a.Kind, b.Kind) && either(a.Name, b.Name) && either(a.Event, b.Event)
}

// subjects returns the NATS filters to request from the server.
func (c *Config) subjects() []string {
	if len(c.Filters) == 0 {
		return []string{nats.Everything(c.Cluster)}
	}
	var all []string
	for _, f := range c.Filters {
		all = append(all, f.String())
	}
	return all
}

// Start is the beginning of a subscription. The zero value is Now.
type Start struct {
	kind startKind
	time events.Time
	id   nats.ID // for afterID the whole ID; for fromSequence only the sequence
}

type startKind uint8

const (
	fromNow startKind = iota
	fromFirst
	fromTime
	fromSequence
	afterID
)

// Now begins with the next event that is published.
func Now() Start { return Start{} }

// All begins with the oldest message in the stream.
func All() Start { return Start{kind: fromFirst} }

// Since begins with the first record that was written at t or later.
func Since(t time.Time) Start { return Start{kind: fromTime, time: events.At(t)} }

// From begins with record s of the log that is being published. Missing records from s on are reported as a Gap.
func From(s events.Sequence) Start { return Start{kind: fromSequence, id: nats.ID{Sequence: s}} }

// After begins after the record id, typically one that was taken before.
func After(id nats.ID) Start { return Start{kind: afterID, id: id} }
