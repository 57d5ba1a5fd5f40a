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

// Config says what to subscribe to. Only Cluster is required.
type Config struct {
	Cluster string // the cluster of the controller; as the operator named it
	Stream  string // of JetStream; empty: the one that has the cluster's subjects

	// Filters select events: those that pass any of them. Their Cluster is the one above. No two may select the same
	// event. Without any, all events are selected.
	Filters []nats.Filter

	// Start is where to begin: Now, unless it is set. A durable subscription has a beginning only once, when it is made.
	Start Start

	// Durable names a subscription that the server remembers, so that the next Run, in whatever process, goes on after the
	// last event that was taken. One Run at a time uses it: whoever begins, or comes back after its connection broke,
	// looks whether another one asks the server for messages, and then waits until that one has ended. Two that look at
	// the same moment do not see each other, nor is one seen that stood still for half a minute and goes on. Until one of
	// them ends, or its connection breaks, both are handed every event, in order; one that the other acknowledged comes
	// with the next that it did not.
	Durable string

	// State remembers outside the server what was taken last: see there. Where it knows something it counts in the place
	// of Start. When it is nil the server alone remembers, and forgets when the stream is deleted.
	State State

	// MaxPending bounds the messages that are on their way to the function; 256 when it is 0. It counts when a durable
	// subscription is made.
	MaxPending int

	// Tries is how often the function may refuse an event before Run gives up; without bound when it is 0. Between two
	// tries there is a pause of FirstPause (100 ms when it is 0), then twice as long each time, up to MaxPause (30 s when
	// it is 0).
	Tries                int
	FirstPause, MaxPause time.Duration

	// Unreadable is handed a message that cannot be decoded: another client wrote to the stream, or it is of a version to
	// come. When it returns nil the message counts as taken; if it was of a record, that is reported missing. Its error
	// ends Run, and so does the message when there is no such function: a durable subscription then goes on with that
	// message.
	Unreadable func(ctx context.Context, message jetstream.Msg, err *UnreadableError) error

	// Trouble is told what keeps events away, and nil when they come again. Run goes on trying meanwhile.
	Trouble func(error)

	// Notice is told what a person should know, and what keeps no events away.
	Notice func(Notice)
}

const (
	defaultPending = 256
	firstPause     = 100 * time.Millisecond
	maxPause       = 30 * time.Second

	// ackWait is after what time without a sign of life the server takes a message of a durable subscription for lost.
	ackWait = 15 * time.Second
)

// validate refuses what cannot work, and sets defaults.
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

// overlap reports whether an event can pass both filters.
func overlap(a, b nats.Filter) bool {
	either := func(x, y string) bool { return x == y || x == "" || y == "" }
	return either(a.Namespace, b.Namespace) && either(a.Kind, b.Kind) && either(a.Name, b.Name) && either(a.Event, b.Event)
}

// subjects are what to ask the server for.
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

// Start is where a subscription begins. The zero value is Now.
type Start struct {
	kind startKind
	time events.Time
	id   nats.ID // for afterID all of it, for fromSequence the sequence
}

type startKind uint8

const (
	fromNow startKind = iota
	fromFirst
	fromTime
	fromSequence
	afterID
)

// Now begins with what is published from now on.
func Now() Start { return Start{} }

// All begins with the oldest message that the stream still has.
func All() Start { return Start{kind: fromFirst} }

// Since begins with the first record that was written at that time or later.
func Since(t time.Time) Start { return Start{kind: fromTime, time: events.At(t)} }

// From begins with the record of that sequence, of the log that is published now. What the stream does not have any
// more of it is reported as a gap.
func From(s events.Sequence) Start { return Start{kind: fromSequence, id: nats.ID{Sequence: s}} }

// After begins after that record, which is one that was taken before.
func After(id nats.ID) Start { return Start{kind: afterID, id: id} }
