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

// Event is a record as it comes to a subscriber.
type Event struct {
	nats.Event
	Place   uint64  // its message's number in the stream of JetStream
	Pending uint64  // how many more the server has at the moment
	Try     int     // how often this Run has handed it over, with this time
	Gap     Gap     // what is missing before it; zero when nothing is
	Before  nats.ID // of the first of another life of the log, or of another log: the newest before that; else zero
}

// RefusedError says that the function refused an event as often as it may.
type RefusedError struct {
	ID    nats.ID
	Tries int
	Err   error // of the last try
}

// Error says it for people.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("event %s was refused %d times: %v", e.ID, e.Tries, e.Err)
}

// Unwrap gives what the function said.
func (e *RefusedError) Unwrap() error { return e.Err }

// UnreadableError says that a message of the stream cannot be decoded.
type UnreadableError struct {
	Place   uint64 // the message's number in the stream of JetStream
	Subject string
	ID      nats.ID // of the record that it says it is; zero when it is of no log: another client wrote to the stream
	Err     error
}

// Error says it for people.
func (e *UnreadableError) Error() string {
	if e.ID == (nats.ID{}) {
		return fmt.Sprintf("message %d of the stream, to %s, is no record of a log: %v", e.Place, e.Subject, e.Err)
	}
	return fmt.Sprintf("message %d of the stream, record %s, cannot be read: %v", e.Place, e.ID, e.Err)
}

// Unwrap gives what is wrong with it.
func (e *UnreadableError) Unwrap() error { return e.Err }

// ErrTaken: a durable subscription of that name asks for other events.
var ErrTaken = errors.New("a durable subscription of that name asks for something else")

// Run hands events to take, until ctx ends; then it returns nil. An event counts as taken when take returns nil; with
// an error it is handed over again. ctx is that of Run, so whatever take waits for ends with it. Neither the event nor
// what it points to is changed later.
//
// js is of a connection that reconnects for ever (natsgo.MaxReconnects(-1)) and keeps nothing for the next server
// (natsgo.ReconnectBufSize(-1)), so that no acknowledgement reaches a stream that it is not of; package dial makes
// such.
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
			return nil //nolint:nilerr // what a session says when ctx ends is no error of Run
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

// finalError ends Run.
type finalError struct{ error }

// errAgain ends a session that is to be followed by another one at once.
var errAgain = errors.New("again")

// subscriber is a Run.
type subscriber struct {
	Config
	js    jetstream.JetStream
	conn  *natsgo.Conn
	take  func(context.Context, *Event) error
	order *Order

	stream    jetstream.Stream // of the session
	begun     bool             // the place below is known
	created   time.Time        // when the stream was made: another one under its name has other places
	place     uint64           // through which all was taken
	floor     floor            // what must not be handed over, whatever places say
	asked     events.Time      // from when on events are asked for, where the stream named no record to begin with; 0 for any time
	since     events.Time      // what was written before is not handed over, as the stream was made anew before it named a record; 0 for nothing
	newest    Taken            // what was taken last, also by a Run before
	continues bool             // it goes on behind a record that was taken, wherever it was told to begin
	notKept   string           // what State said last; empty when it took it
	lost      gaps             // what the stream lacks, until the next events tell of it
	holes     []hole           // places that were passed over, of which the stream was not asked yet
	proved    time.Time        // when it was asked last
	acked     string           // where the last acknowledgement went to
	taken     uint64           // how many
	trouble   bool             // it was told
}

// session takes events until something goes wrong with the server. Then another one begins, after the last that was
// taken.
func (s *subscriber) session(ctx context.Context) error {
	if err := s.connected(ctx); err != nil {
		return err
	}
	run := ctx // what the function is handed: it goes on when the connection breaks
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

// connected waits until there is a connection.
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

const answer = 5 * time.Second // how long the server may take

// delivery hands over a message, which stands at that place, until it is taken.
type delivery func(m jetstream.Msg, at place) error

// place is where a message stands in the stream, and how many the server has after it.
type place struct{ number, pending uint64 }

// follow finds the stream and the place in it, and takes events from there.
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

// locate sets the place after which to go on: where it was, in the same stream, or where the newest taken stands in
// another.
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

// begin gives the place at which a subscription begins: behind what was taken before, if something is known of that.
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
	switch { // an empty stream names no record
	case first.Log != (events.Identity{}):
	case s.Start.kind == fromNow:
		s.asked = events.At(f.stream.CachedInfo().TimeStamp)
	case s.Start.kind == fromTime:
		s.asked = s.Start.time
	}
	return from, nil
}

// again gives the place at which to go on in the same stream: behind the one before, unless the store was restored, or
// lost its newest messages, and was filled since, so that something else stands there.
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
			if s.place+1 < f.first && len(s.lost) == 0 { // purged while the connection was broken
				err = s.lacks(ctx, f, next)
			}
			return s.place + 1, err
		}
	}
	for i := range s.holes {
		s.holes[i].stream = time.Time{} // what comes again in them is not handed over
	}
	return f.after(ctx, preceding(next))
}

// anew gives the place at which to go on in another stream than the one before. It may be one that is being filled:
// then what is behind the floor comes, too, and is passed over.
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

// rejoin finds the record to go on with, or what follows it, in another stream than the one before.
func (s *subscriber) rejoin(ctx context.Context, f *finder, next nats.ID) (uint64, error) {
	if preceding(next) == s.newest.ID {
		return s.seek(ctx, f)
	}
	return f.after(ctx, preceding(next))
}

// tell tells of a trouble, or with nil of its end.
func (s *subscriber) tell(err error) {
	if err != nil || s.trouble {
		s.trouble = err != nil
		s.Trouble(err)
	}
}

// flush waits until the server has taken in what was acknowledged, so that it does not come again: the last one is
// acknowledged once more, with an answer.
func (s *subscriber) flush() {
	const bound = 2 * time.Second
	if s.acked != "" && s.conn.IsConnected() {
		_, _ = s.conn.Request(s.acked, []byte("+ACK"), bound) // without it some events come twice, and that is all
	}
}
