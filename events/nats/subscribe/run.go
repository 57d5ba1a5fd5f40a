package subscribe

import (
	"context"
	"errors"
	"fmt"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/nats"
	"github.com/jobledger/jobledger/events/nats/dial"
)

// Event is one record as the function that handles events receives it.
type Event struct {
	nats.Event
	Place   uint64  // position of the message in the JetStream stream
	Pending uint64  // number of messages that the server has after it
	Try     int     // how often this Run has delivered the event, including this time
	Gap     Gap     // what is missing before it; zero for nothing
	Before  nats.ID // for the first event of another epoch or log: the newest record before; else zero
}

// RefusedError says that the function that handles events refused an event Config.Tries times.
type RefusedError struct {
	ID    nats.ID
	Tries int
	Err   error // of the last try
}

// Error returns a sentence: which event was refused, how often and why.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("event %s was refused %d times: %v", e.ID, e.Tries, e.Err)
}

// Unwrap returns the function's error.
func (e *RefusedError) Unwrap() error { return e.Err }

// UnreadableError says that a message of the stream cannot be decoded.
type UnreadableError struct {
	Place   uint64 // position of the message in the JetStream stream
	Subject string
	ID      nats.ID // the record that the headers name; zero for a message of no log, which another client wrote
	Err     error
}

// Error returns a sentence: which message cannot be decoded, and why.
func (e *UnreadableError) Error() string {
	if e.ID == (nats.ID{}) {
		return fmt.Sprintf("message %d of the stream, to %s, is no record of a log: %v", e.Place, e.Subject, e.Err)
	}
	return fmt.Sprintf("message %d of the stream, record %s, cannot be read: %v", e.Place, e.ID, e.Err)
}

// Unwrap returns the decoding error.
func (e *UnreadableError) Unwrap() error { return e.Err }

// ErrTaken says that a durable subscription of that name exists and requests other events.
var ErrTaken = errors.New("a durable subscription of that name asks for something else")

// Run calls take with one event after the other until ctx ends, and then returns nil. If take returns nil, the event is
// taken; if take returns an error, Run delivers it again. take gets the ctx of Run, so it should return when that ends.
// The event, and what it points to, does not change later.
//
// Run returns a RefusedError, an UnreadableError, ErrTaken, or an error that the server would always return.
//
// The connection of js must reconnect for ever (natsgo.MaxReconnects(-1)) and must not buffer while disconnected
// (natsgo.ReconnectBufSize(-1)), so that no acknowledgement reaches another stream. Package dial makes such
// connections.
func Run(ctx context.Context, js jetstream.JetStream, c Config, take func(context.Context, *Event) error) error {
	if err := c.validate(); err != nil {
		return err
	}
	s := &subscriber{Config: c, js: js, conn: js.Conn(), take: take, order: NewOrder(c.Filters...)}
	for failures := 0; ; failures++ {
		before := s.taken
		err := s.session(ctx)
		if ctx.Err() != nil {
			s.flush()
			return nil //nolint:nilerr // an error of a session after ctx ended is no error of Run
		}
		if final := (*finalError)(nil); errors.As(err, &final) {
			s.flush()
			return final.error
		}
		if s.taken > before {
			failures = 0
		}
		if !errors.Is(err, errAgain) {
			s.tell(err)
			dial.Wait(ctx, dial.Pause(failures, firstPause, maxRetry))
		}
	}
}

// maxRetry is the longest pause before the server is asked again.
const maxRetry = 2 * time.Second

// finalError wraps an error that ends Run; other errors begin a new session.
type finalError struct{ error }

// errAgain ends a session; the next one begins at once.
var errAgain = errors.New("again")

// subscriber is the state of one Run.
type subscriber struct {
	Config
	js    jetstream.JetStream
	conn  *natsgo.Conn
	take  func(context.Context, *Event) error
	order *Order

	stream  jetstream.Stream // stream of the session
	begun   bool             // place is known
	created time.Time        // creation time of the stream: a recreated stream has other positions
	place   uint64           // all messages up to this position were handled
	floor   floor            // records that must not be delivered, whatever their positions
	// Events are requested from this time on, if the stream revealed no first record; 0 for any time
	asked events.Time
	// Events before this time are not delivered, because the stream was recreated before it had shown a record; 0 for
	// none
	since     events.Time
	newest    Taken     // the last event that was handled, also by an earlier Run
	continues bool      // the subscription continues after a record that was handled before, whatever Start says
	notKept   string    // last error of State; empty after a success
	lost      gaps      // missing records that no event has reported yet
	holes     []hole    // skipped positions that are not checked yet
	proved    time.Time // time of the last check of the holes
	acked     string    // reply subject of the last acknowledgement
	taken     uint64    // number of events taken
	trouble   bool      // Trouble was called with an error, and not with nil since
}

// session receives events until there is an error of the server. The next session continues after the last event that
// was handled.
func (s *subscriber) session(ctx context.Context) error {
	if err := s.connected(ctx); err != nil {
		return err
	}
	run := ctx // the context for the function that handles events: it survives a broken connection
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	away := s.conn.StatusChanged(natsgo.DISCONNECTED, natsgo.RECONNECTING, natsgo.CLOSED)
	defer s.conn.RemoveStatusListener(away)
	go func() { // ends with the session
		select {
		case <-away:
			cancel(errors.New("the connection to the NATS server broke"))
		case <-ctx.Done():
		}
	}()
	err := s.follow(ctx, func(m jetstream.Msg, at place) error { return s.deliver(run, m, at) })
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// connected waits for a connection to the server.
func (s *subscriber) connected(ctx context.Context) error {
	for !s.conn.IsConnected() {
		changed := s.conn.StatusChanged(natsgo.CONNECTED, natsgo.CLOSED)
		if s.conn.IsClosed() {
			return &finalError{natsgo.ErrConnectionClosed}
		}
		if !s.conn.IsConnected() {
			err := s.conn.LastError()
			if err == nil {
				err = errors.New("there is no connection to a NATS server")
			}
			s.tell(err)
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
		s.conn.RemoveStatusListener(changed)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

const answer = 5 * time.Second // limit for an answer of the server

// delivery passes the message at this position to the function that handles events, until the function accepts it.
type delivery func(m jetstream.Msg, at place) error

// place is the position of a message in the stream, and the number of messages that the server has after it.
type place struct{ number, pending uint64 }

// follow finds the stream and the position in it, and receives events from that position on.
func (s *subscriber) follow(ctx context.Context, deliver delivery) error {
	bound, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	name := s.Stream
	if name == "" {
		var err error
		if name, err = s.js.StreamNameBySubject(bound, nats.Everything(s.Cluster)); err != nil {
			return fmt.Errorf("look for the stream of cluster %s: %w", s.Cluster, err)
		}
	}
	stream, err := s.js.Stream(bound, name)
	if err != nil {
		return fmt.Errorf("look for stream %s: %w", name, err)
	}
	if err := s.load(); err != nil {
		return err
	}
	s.stream = stream
	f := newFinder(stream, stream.CachedInfo(), s.Cluster)
	if s.Durable != "" {
		return s.followDurable(ctx, f, deliver)
	}
	if err := s.locate(ctx, f); err != nil {
		return err
	}
	return s.read(ctx, stream, 0, deliver)
}

// locate sets the position to continue after. In the same stream that is the previous position, else the position of
// the last handled event in the new stream.
func (s *subscriber) locate(ctx context.Context, f *finder) error {
	info := f.stream.CachedInfo()
	var from uint64
	var err error
	switch {
	case !s.begun:
		from, err = s.begin(ctx, f)
	case info.Created.Equal(s.created):
		from, err = s.again(ctx, f)
	default:
		from, err = s.anew(ctx, f)
	}
	if err != nil {
		return err
	}
	s.begun, s.created, s.place = true, info.Created, from-1
	return nil
}

// begin returns the position where a subscription begins: after the last handled event if one is known, else by Start.
func (s *subscriber) begin(ctx context.Context, f *finder) (uint64, error) {
	if s.continues {
		from, err := s.seek(ctx, f)
		if err == nil {
			err = s.lacks(ctx, f, following(s.newest.ID))
		}
		return from, err
	}
	from, first, err := f.start(ctx, s.Start)
	if err != nil {
		return 0, err
	}
	s.order.Expect(first)
	s.floor.raise(first)
	// If the stream is empty, no first record is known. Keep the time that was asked for instead
	switch {
	case first.Log != (events.Identity{}):
	case s.Start.kind == fromNow:
		s.asked = events.At(f.stream.CachedInfo().TimeStamp)
	case s.Start.kind == fromTime:
		s.asked = s.Start.time
	}
	return from, nil
}

// again returns the position to continue with in the same stream. It is the next position, unless another message is at
// the last one: the store was restored, or lost its newest messages, and was refilled.
func (s *subscriber) again(ctx context.Context, f *finder) (uint64, error) {
	next := s.floor.first()
	if next == (nats.ID{}) || s.place == 0 {
		return min(s.place+1, max(f.end, 1)), nil
	}
	if s.place < f.end {
		there, err := f.at(ctx, s.place)
		if err != nil {
			return 0, err
		}
		if there == nil || there.place > s.place || s.floor.behind(there.head.ID) {
			// If messages were purged while the connection was broken, report the gap
			if s.place+1 < f.first && len(s.lost) == 0 {
				err = s.lacks(ctx, f, next)
			}
			return s.place + 1, err
		}
	}
	for i := range s.holes {
		// No stream has the zero time, so prove reports these records as missing. That is right: deliver would skip
		// them
		s.holes[i].stream = time.Time{}
	}
	return f.after(ctx, preceding(next))
}

// anew returns the position to continue with in a stream that was deleted and created again. If that stream is just
// being refilled, records that were handled before also come; deliver skips them.
func (s *subscriber) anew(ctx context.Context, f *finder) (from uint64, err error) {
	next := s.floor.first()
	if next == (nats.ID{}) {
		s.since, from = s.asked, max(f.first, 1)
	} else if from, err = s.rejoin(ctx, f, next); err == nil {
		s.continues = true
		err = s.lacks(ctx, f, next)
	}
	if err == nil {
		s.remade()
	}
	return from, err
}

// rejoin returns the position of record next in a new stream; if it is missing, that of the record after it.
func (s *subscriber) rejoin(ctx context.Context, f *finder, next nats.ID) (uint64, error) {
	if preceding(next) == s.newest.ID {
		return s.seek(ctx, f)
	}
	return f.after(ctx, preceding(next))
}

// tell calls Trouble with an error, or with nil when the trouble has ended.
func (s *subscriber) tell(err error) {
	if err != nil || s.trouble {
		s.trouble = err != nil
		s.Trouble(err)
	}
}

// flush ensures that the server has processed all acknowledgements, so that these events do not come again. It repeats
// the last one as a request.
func (s *subscriber) flush() {
	const bound = 2 * time.Second
	if s.acked != "" && s.conn.IsConnected() {
		_, _ = s.conn.Request(s.acked, []byte("+ACK"), bound) // on failure some events come twice, which is harmless
	}
}
