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

// window holds the messages in flight (sent, and not acknowledged), in order. One goroutine sends; one of the client
// handles acknowledgements.
//
//	… acknowledged … | first … sent … next | not sent …
//
// Invariant: every message before first is acknowledged, and the log's stored progress is not beyond it.
type window struct {
	maxMessages, maxBytes int

	careful bool // until the first acknowledgement, only one message is in flight

	acked func(through events.Sequence, place uint64, messages int) error // called in order, when first grows
	fail  context.CancelCauseFunc

	mu    sync.Mutex
	queue []sent // ring buffer
	first uint64 // number of the oldest message
	next  uint64 // number of the next message. Invariant: next-first <= len(queue)
	bytes int
	over  bool          // the session has ended: later answers are ignored
	room  chan struct{} // holds a token when there may be room again
}

// sent is a message in the window: it was sent, and it or an older one is not acknowledged yet. acked is true once the
// message itself is acknowledged; it stays in the window until all older ones are, too.
type sent struct {
	record events.Sequence
	place  uint64 // required position in the stream
	bytes  int
	at     time.Time
	acked  bool
}

// newWindow returns an empty window. With careful, only one message is sent before the first acknowledgement. That is
// for a server that refused the last messages and might refuse a thousand more.
func newWindow(messages, bytes int, careful bool, acked func(events.Sequence, uint64, int) error, fail context.CancelCauseFunc) *window {
	return &window{
		maxMessages: messages, maxBytes: bytes, careful: careful, acked: acked, fail: fail,
		queue: make([]sent, messages), room: make(chan struct{}, 1),
	}
}

// add adds a message that is about to be sent, and returns its number. It blocks while too many messages, or too many
// bytes, are unacknowledged.
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

// answer handles the server's answer to a message. One goroutine of the NATS client calls it.
func (w *window) answer(m *natsgo.Msg) {
	number, err := strconv.ParseUint(m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], 10, 64)
	if err != nil {
		return // from another client
	}
	a, err := parseAck(m)
	if err == nil {
		err = w.take(number, a)
	}
	if err != nil {
		w.fail(err)
	}
}

// movedError says that the server has the oldest unacknowledged message already, at another position. It was deleted
// there, or another client published after it. All messages before it are acknowledged, so the stream has, or had,
// everything up to it.
type movedError struct {
	record events.Sequence
	place  uint64 // position of the record
}

func (e *movedError) Error() string {
	return fmt.Sprintf("the server had record %d before, at another place", e.record)
}

// take handles the acknowledgement a of the message with this number. If all messages before it are acknowledged, too,
// it calls acked.
func (w *window) take(number uint64, a ack) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || number < w.first || number >= w.next {
		return nil // too late, or a second answer
	}
	s := &w.queue[number%uint64(len(w.queue))]
	switch {
	case a.Sequence == s.place:
	// The stream has the record already, at another position. This is trusted only for the oldest message: for a later
	// one, it is unknown whether the messages before it are stored
	case a.Duplicate && number == w.first:
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

// close ends the window: later answers are ignored, and the outcome of their messages is unknown.
func (w *window) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

// overdue reports whether the oldest unacknowledged message was sent longer ago than limit.
func (w *window) overdue(limit time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first < w.next && time.Since(w.queue[w.first%uint64(len(w.queue))].at) > limit
}
