package publish

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/jobledger/jobledger/events"
)

// window holds what was sent and not acknowledged, in order. One goroutine sends; the client's takes acknowledgements.
//
//	… acknowledged … | first … sent … next | not sent …
//
// Invariant: every message before first is acknowledged, and the offset of the log is not beyond it.
type window struct {
	maxMessages, maxBytes int

	careful bool // until the first acknowledgement one message is sent at a time

	acked func(through events.Sequence, place uint64, messages int) error // told in order
	fail  context.CancelCauseFunc

	mu    sync.Mutex
	queue []sent // a ring
	first uint64 // the number of the oldest
	next  uint64 // the number of the next to be sent. Invariant: next-first <= len(queue)
	bytes int
	over  bool          // the session has ended: nothing is taken any more
	room  chan struct{} // has a token when there may be room again
}

// sent is a message that was sent.
type sent struct {
	record events.Sequence
	place  uint64 // in the stream, where it must come to stand
	bytes  int
	at     time.Time
	acked  bool
}

// newWindow is an empty window. A careful one is for a server that refused what was sent last: a thousand more messages
// would only be refused too.
func newWindow(messages, bytes int, careful bool, acked func(events.Sequence, uint64, int) error, fail context.CancelCauseFunc) *window {
	return &window{
		maxMessages: messages, maxBytes: bytes, careful: careful, acked: acked, fail: fail,
		queue: make([]sent, messages), room: make(chan struct{}, 1),
	}
}

// add notes a message that is about to be sent, and gives the number by which it is acknowledged. It waits for room.
func (w *window) add(ctx context.Context, s sent) (uint64, error) {
	for {
		w.mu.Lock()
		waiting := int(w.next - w.first)
		if waiting == 0 || !w.careful && waiting < w.maxMessages && w.bytes+s.bytes <= w.maxBytes {
			n := w.next
			w.queue[n%uint64(len(w.queue))] = s
			w.next++
			w.bytes += s.bytes
			w.mu.Unlock()
			return n, nil
		}
		w.mu.Unlock()
		select {
		case <-w.room:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// answer takes the server's answer to a message. It is called by one goroutine of the NATS client.
func (w *window) answer(m *natsgo.Msg) {
	number, err := strconv.ParseUint(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], 10, 64)
	if err != nil {
		return // another client's
	}
	a, err := parseAck(m)
	if err == nil {
		err = w.take(number, a)
	}
	if err != nil {
		w.fail(err)
	}
}

// movedError says that the server knows the oldest message from elsewhere in the stream: it was deleted there, or what
// is between was published by another client. All before it are acknowledged, so the stream has, or had, everything up
// to it.
type movedError struct {
	record events.Sequence
	place  uint64 // where it was
}

func (e *movedError) Error() string {
	return fmt.Sprintf("the server had record %d before, at another place", e.record)
}

// take notes that a message is stored, and tells how far all are.
func (w *window) take(number uint64, a ack) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || number < w.first || number >= w.next {
		return nil // too late, or a second answer
	}
	s := &w.queue[number%uint64(len(w.queue))]
	switch {
	case a.Sequence == s.place:
	case a.Duplicate && number == w.first: // of an earlier one nothing is known yet
		return &movedError{s.record, a.Sequence}
	default:
		return errLostPlace
	}
	s.acked = true
	var through events.Sequence
	var place uint64
	done := 0
	for w.first < w.next {
		s := &w.queue[w.first%uint64(len(w.queue))]
		if !s.acked {
			break
		}
		through, place = s.record, s.place
		w.bytes -= s.bytes
		w.first++
		done++
	}
	if done == 0 {
		return nil
	}
	w.careful = false
	select {
	case w.room <- struct{}{}:
	default:
	}
	return w.acked(through, place, done)
}

// close makes answers that are still to come void: what they are about is in doubt.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

// overdue reports whether the oldest message has waited for longer than that.
func (w *window) overdue(limit time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first < w.next && time.Since(w.queue[w.first%uint64(len(w.queue))].at) > limit
}
