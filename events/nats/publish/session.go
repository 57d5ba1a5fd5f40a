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

// session publishes from where the stream ends until something goes wrong, which is its error. Everything that was sent
// and not acknowledged by then is in doubt; the next session asks the stream. A careful one begins with one message.
type session struct {
	*Publisher
	place
	encoder nats.Encoder

	window  *window // of what is on its way to a stream on one server; nil for others
	inbox   string
	follows follows

	turn *turn // what is on its way to a stream on several servers; nil for others

	chain   events.Hash     // the log's chain value after the record chained
	chained events.Sequence // of the message that was made last
	strayed bool            // it was told that the chain value is not the log's
}

// follows is what the server must find at the end of the stream to take a message: its place, and the record that was
// sent before it. The place alone is not enough: when another client wrote there, the first message that was sent is
// refused, and the second would stand where it should. The values of the headers are used again for each message.
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
	go p.watchStream(ctx, cancel, &s.place) // likewise
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

// awaitServer waits until there is a connection, and forgets what was wrong with the one before.
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

// watch ends the session when the connection breaks, or acknowledgements stay away.
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

// pump hands every durable record to send, in order, and calls idle, if there is one, whenever there is no more for
// now. What the log no longer keeps is passed over, and the floor says so.
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

// message makes the message of the next record.
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

// send sends the next record to a stream on one server. It waits for room, and for nothing else.
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
	if s.follows.record[0] != "" { // before the first one of a session nothing is in doubt
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

// offsetEvery bounds how many acknowledged records a crash makes the next start look up again, and how often the log is
// told.
const offsetEvery = 64

// stored notes that all records up to that one are in the stream, the last at that place.
func (s *session) stored(through events.Sequence, place uint64, messages int) error {
	noted := s.state.stored(through, place, messages)
	if through-noted < offsetEvery && through < s.Log.Head().Sequence {
		return nil
	}
	s.state.note(through)
	return s.offset.Note(through)
}
