package publish

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/follow"
	"github.com/jobledger/jobledger/events/nats"
)

var (
	errBroken  = errors.New("the connection broke")
	errOverdue = errors.New("the server does not acknowledge what it was sent: it hangs, or cannot write (a full disk shows in its log only; when there is room again, restart the server: it does not write that stream before)")
)

// session publishes records, after the last one that the stream has, until an error. Messages that were sent and not
// acknowledged by then have an unknown outcome: the next session asks the stream for its end. With careful, a session
// begins with a single message.
type session struct {
	*Publisher
	place
	encoder nats.Encoder

	window  *window // messages sent to a stream with one server, and unanswered; else nil
	inbox   string
	follows follows

	turn *turn // batch being sent to a stream with several replicas; else nil

	chain   events.Hash     // the log's hash after the record chained
	chained events.Sequence // record of the newest message that was encoded
	strayed bool            // a wrong chain value (hash) was logged
}

// follows holds the headers that tell the server what must be at the end of the stream: the position, and the record
// sent before. The position alone is not enough: after another client's message, the server refuses our first message,
// and the second one would be at the right position. The header values are reused for each message.
type follows struct{ place, record [1]string }

func (p *Publisher) session(ctx context.Context, careful bool) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() {
		cancel(nil)
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
			err = cause
		}
	}()
	if err := p.awaitServer(ctx); err != nil {
		return err
	}
	s := &session{Publisher: p}
	if s.place, err = p.locate(ctx); err != nil {
		return err
	}
	s.encoder = nats.Encoder{Cluster: p.Cluster, ContentType: p.ContentType, MaxBytes: s.maxBytes(int(p.conn.MaxPayload()))}
	p.state.begin(&s.place)
	if err := p.offset.Note(s.from - 1); err != nil {
		return err
	}
	alone := !p.Core && s.replicas <= 1
	if alone {
		s.window = newWindow(p.MaxInFlight, p.MaxInFlightBytes, careful, s.stored, cancel)
	}
	go p.watch(ctx, cancel, s)              // ends with ctx
	go p.watchStream(ctx, cancel, &s.place) // ends with ctx
	switch {
	case p.Core:
		return s.pump(ctx, s.sendCore, s.flush)
	case !alone:
		s.turn = newTurn(&s.place, careful, p.known)
		p.known = false
		err := s.pump(ctx, s.gather, s.commit)
		p.known = errors.Is(err, errKnown)
		return err
	}
	s.inbox = p.conn.NewInbox()
	sub, err := p.conn.Subscribe(s.inbox+".*", s.window.answer)
	if err != nil {
		return err
	}
	defer func() {
		s.window.close()
		_ = sub.Unsubscribe() // it ends with the connection anyway
	}()
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return err
	}
	return s.pump(ctx, s.send, nil)
}

// awaitServer waits for a connection, and clears problems of an earlier connection.
func (p *Publisher) awaitServer(ctx context.Context) error {
	for {
		select {
		case <-p.broken:
		default:
		}
		if p.conn.IsConnected() {
			p.state.connected(p.conn.ConnectedUrlRedacted())
			return nil
		}
		changed := p.conn.StatusChanged(natsgo.CONNECTED, natsgo.CLOSED)
		if !p.conn.IsConnected() {
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		p.conn.RemoveStatusListener(changed)
		if p.conn.IsClosed() {
			return natsgo.ErrConnectionClosed
		}
	}
}

// watch ends the session when the connection breaks, or an acknowledgement is overdue.
func (p *Publisher) watch(ctx context.Context, cancel context.CancelCauseFunc, s *session) {
	tick := time.NewTicker(p.AckTimeout / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.broken:
			cancel(errBroken)
			return
		case <-tick.C:
			if s.window != nil && s.window.overdue(p.AckTimeout) {
				cancel(errOverdue)
				return
			}
		}
	}
}

// pump passes every durable record to send, in order, and calls idle, if not nil, when there are no more for now. If
// the log has deleted records before they were read, it skips them, and raises the floor (the header that says so).
func (s *session) pump(ctx context.Context, send func(context.Context, *events.Record) error, idle func(context.Context) error) error {
	cursor := follow.Cursor{
		Log: s.Log, Next: s.from, Idle: idle,
		Take: func(ctx context.Context, r *events.Record) error {
			if err := send(ctx, r); err != nil {
				return err
			}
			s.from = r.Sequence + 1
			return nil
		},
		Pruned: func(next, first events.Sequence) {
			s.Logger.Warn("records are not published: the log no longer keeps them", "from", uint64(next), "to", uint64(first-1))
			s.floor = first
		},
	}
	return cursor.Follow(ctx)
}

// message returns the next record as a message.
func (s *session) message(ctx context.Context, r *events.Record) (*natsgo.Msg, error) {
	if f, ok := r.Facts.(*events.EpochChanged); ok {
		s.epochs = s.epochs.begin(f.Epoch, r.Sequence)
	}
	job, err := s.jobs.Of(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := s.chainTo(r); err != nil {
		return nil, err
	}
	life := events.Identity{LogID: s.logID, Epoch: s.epochs.of(r.Sequence)}
	m, err := s.encoder.Encode(r, life, job, s.floor)
	if err != nil {
		return nil, err
	}
	s.checkChain(r, m.Header)
	s.jobs.Shown(r)
	return &natsgo.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}, nil
}

// send sends the next record to a stream with one server. It blocks only while too many messages are unacknowledged.
func (s *session) send(ctx context.Context, r *events.Record) error {
	m, err := s.message(ctx, r)
	if err != nil {
		return err
	}
	number, err := s.window.add(ctx, sent{record: r.Sequence, place: s.last + 1, bytes: m.Size(), at: time.Now()})
	if err != nil {
		return err
	}
	s.follows.place[0] = strconv.FormatUint(s.last, 10)
	m.Header[jetstream.ExpectedLastSeqHeader] = s.follows.place[:]
	if s.follows.record[0] != "" { // before the first message of a session the position alone is enough
		m.Header[jetstream.ExpectedLastMsgIDHeader] = s.follows.record[:]
	}
	m.Reply = s.inbox + "." + strconv.FormatUint(number, 10)
	if err := s.conn.PublishMsg(m); err != nil {
		return fmt.Errorf("send record %d: %w", r.Sequence, err)
	}
	s.last++
	s.follows.record[0] = m.Header.Get(nats.HeaderMsgID)
	return nil
}

// offsetEvery is the number of acknowledged records after which the log stores how far it is published. After a crash
// the next start looks up at most that many again.
const offsetEvery = 64

// stored notes that all records up to through are in the stream, the last one at position place. messages is the number
// of messages that the server has acknowledged now.
func (s *session) stored(through events.Sequence, place uint64, messages int) error {
	noted := s.state.stored(through, place, messages)
	if through-noted < offsetEvery && through < s.Log.Head().Sequence {
		return nil
	}
	s.state.note(through)
	return s.offset.Note(through)
}
