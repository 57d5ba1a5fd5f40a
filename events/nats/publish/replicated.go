package publish

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/jobledger/jobledger/events"
)

// A stream of several servers is written differently from one of a single server, where many messages are on their way
// and each names the place and the record before it:
//
//   - The header that names the record, Nats-Expected-Last-Msg-Id, must not be sent there. One mismatch, which a second writer
//     causes by one message, stops the stream on all its servers for good (nats-server up to 2.15.2).
//   - The place alone is no fence for what follows: when the first message on its way is refused, the second stands where it should.
//
// So one thing is on its way at a time, and names its place: an atomic batch, which the stream takes whole or not at
// all, or one message when the stream takes no batches.

const (
	// A batch takes the server a constant time, so few large ones are fast. The server allows a thousand messages.
	batchMessages = 500
	batchBytes    = 2 << 20

	headerBatchID       = "Nats-Batch-Id"
	headerBatchSequence = "Nats-Batch-Sequence"
	headerBatchCommit   = "Nats-Batch-Commit"

	// errCodeBatchDuplicate: the stream has a record of the batch already, at another place.
	errCodeBatchDuplicate jetstream.ErrorCode = 10201
)

// errKnown: the server refused a batch, because it had one of its records before. Sent one by one, it says which.
var errKnown = errors.New("the server had a record of an atomic batch before")

// turn is what is on its way to a stream of several servers. Invariant: nothing else is.
type turn struct {
	most   int         // messages; 1 when the stream takes no batches
	id     string      // of the batch
	held   *natsgo.Msg // the newest message; all before it were sent
	record events.Sequence
	count  int // messages, the one that is held included
	bytes  int
	alone  int // messages still to be sent one by one
}

// newTurn is empty. A careful session begins with one message; one after errKnown sends as many as a batch had.
func newTurn(at *place, careful, known bool) *turn {
	t := &turn{most: 1}
	if at.atomic {
		t.most = batchMessages
	}
	switch {
	case known:
		t.alone = batchMessages
	case careful:
		t.alone = 1
	}
	return t
}

// gather takes the next record into the batch. The message before it is sent now, so the encoder may use its memory
// again.
func (s *session) gather(ctx context.Context, r *events.Record) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t := s.turn
	if t.held != nil {
		if err := s.sendPart(); err != nil {
			return err
		}
	}
	m, err := s.message(ctx, r)
	if err != nil {
		return err
	}
	for _, left := range []string{jetstream.ExpectedLastSeqHeader, headerBatchID, headerBatchSequence, headerBatchCommit} {
		delete(m.Header, left) // the encoder uses the map of the message before
	}
	if t.count == 0 {
		m.Header.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(s.last, 10))
	}
	t.held, t.record = m, r.Sequence
	t.count++
	t.bytes += m.Size()
	if t.count >= t.most || t.bytes >= batchBytes || t.alone > 0 {
		return s.commit(ctx)
	}
	return nil
}

// sendPart sends the message that is held as one of a batch that goes on.
func (s *session) sendPart() error {
	s.turn.mark()
	if err := s.conn.PublishMsg(s.turn.held); err != nil {
		return fmt.Errorf("send record %d: %w", s.turn.record, err)
	}
	s.turn.held = nil
	return nil
}

// mark makes the message that is held one of the batch.
func (t *turn) mark() {
	if t.count == 1 {
		t.id = rand.Text()
	}
	t.held.Header.Set(headerBatchID, t.id)
	t.held.Header.Set(headerBatchSequence, strconv.Itoa(t.count))
}

// commit sends the message that is held, the last of its batch, and waits until the stream has all of it.
func (s *session) commit(ctx context.Context) error {
	t := s.turn
	if t.held == nil {
		return nil
	}
	if t.count > 1 {
		t.mark()
		t.held.Header.Set(headerBatchCommit, "1")
	}
	bound, cancel := context.WithTimeout(ctx, s.AckTimeout)
	defer cancel()
	answer, err := s.conn.RequestMsgWithContext(bound, t.held)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, natsgo.ErrNoResponders):
		return errNoStream
	case errors.Is(err, context.DeadlineExceeded):
		return errOverdue
	default:
		return fmt.Errorf("send record %d: %w", t.record, err)
	}
	a, err := parseAck(answer)
	if err != nil {
		return err
	}
	if a.Duplicate {
		return &movedError{t.record, a.Sequence}
	}
	if s.last += uint64(t.count); a.Sequence != s.last {
		return errLostPlace
	}
	err = s.stored(t.record, s.last, t.count)
	*t = turn{most: t.most, alone: max(t.alone-1, 0)}
	return err
}
