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

// This file publishes to a stream with several replicas. A stream with one server gets many messages before the first
// one is acknowledged, each of which names the position and the record before it. A stream with several replicas must
// be written differently, for two reasons:
//
//   - The header that names the record, Nats-Expected-Last-Msg-Id, must not be used. One mismatch, which one message of
//     a second writer causes, stops the stream on all its servers for good (nats-server up to 2.15.2).
//   - The position alone does not protect the order: when the first message in flight is refused, the second one is at
//     the right position.
//
// So only one unit is in flight at a time and names its position: an atomic batch, which the stream stores whole or not
// at all, or a single message when the stream accepts no batches.

const (
	// A batch costs the server a constant time, so few large ones are fast. The server allows 1,000 messages.
	batchMessages = 500
	batchBytes    = 2 << 20

	headerBatchID       = "Nats-Batch-Id"
	headerBatchSequence = "Nats-Batch-Sequence"
	headerBatchCommit   = "Nats-Batch-Commit"

	// errCodeBatchDuplicate: the stream already has a record of the batch, at another position.
	errCodeBatchDuplicate jetstream.ErrorCode = 10201
)

// errKnown says that the server refused an atomic batch because it already has one of its records. The next session
// sends the records singly, to find out which one.
var errKnown = errors.New("the server had a record of an atomic batch before")

// turn is the batch that is being sent to a stream with several replicas. Nothing else is sent meanwhile.
type turn struct {
	most   int         // largest number of messages; 1 when the stream accepts no batches
	id     string      // ID of the batch
	held   *natsgo.Msg // newest message of the batch, not sent yet; all before it were sent
	record events.Sequence
	count  int // messages, including held
	bytes  int
	alone  int // how many of the next messages must be sent singly
}

// newTurn returns an empty batch. careful says that the first message must be sent singly. known says that the last
// session ended with errKnown: then batchMessages messages are sent singly.
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

// gather adds the next record to the batch, and sends the batch if it is large enough. First it sends the message in
// held, because the encoder reuses that memory.
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
		delete(m.Header, left) // the encoder reuses the map of the previous message
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

// sendPart sends the message in held as part of a batch that is not complete.
func (s *session) sendPart() error {
	s.turn.mark()
	if err := s.conn.PublishMsg(s.turn.held); err != nil {
		return fmt.Errorf("send record %d: %w", s.turn.record, err)
	}
	s.turn.held = nil
	return nil
}

// mark sets the headers that make the message in held a part of the batch.
func (t *turn) mark() {
	if t.count == 1 {
		t.id = rand.Text()
	}
	t.held.Header.Set(headerBatchID, t.id)
	t.held.Header.Set(headerBatchSequence, strconv.Itoa(t.count))
}

// commit sends the message in held as the last one of its batch, and waits for the acknowledgement of the batch.
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
