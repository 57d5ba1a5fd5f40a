package subscribe

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// queue holds delivered messages that are not acknowledged yet. It is bounded, because the server delivers at most
// MaxPending messages without an acknowledgement. While messages are in it, keepAlive reports progress on them to the
// server.
type queue struct {
	broken context.CancelCauseFunc
	last   uint64        // number of the last delivery, by the server's count
	more   chan struct{} // holds a token when a message was added

	mu   sync.Mutex
	held []held // in order; next returns the first one
}

type held struct {
	message jetstream.Msg
	place
	skipped bool      // a delivery before this one did not arrive here
	told    time.Time // when the server last got a progress report
}

func newQueue(broken context.CancelCauseFunc, last uint64) *queue {
	return &queue{broken: broken, last: last, more: make(chan struct{}, 1)}
}

// fill adds messages from the client until ctx ends. On an error it cancels ctx with it.
func (q *queue) fill(ctx context.Context, messages jetstream.MessagesContext) {
	for {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err == nil {
			err = q.add(m)
		}
		if err != nil {
			q.broken(fmt.Errorf("take the next message: %w", err))
			return
		}
	}
}

func (q *queue) add(m jetstream.Msg) error {
	at, err := m.Metadata()
	if err != nil {
		return err
	}
	h := held{m, place{at.Sequence.Stream, at.NumPending}, at.Sequence.Consumer != q.last+1, time.Now()}
	q.last = at.Sequence.Consumer
	q.mu.Lock()
	q.held = append(q.held, h)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
	return nil
}

// next waits for the oldest message. The message stays in the queue until done is called.
func (q *queue) next(ctx context.Context) (held, error) {
	if err := q.await(ctx, 1, math.MaxUint64); err != nil {
		return held{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held[0], nil
}

// await waits until the queue has messages of n different positions up to through.
func (q *queue) await(ctx context.Context, n int, through uint64) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		q.mu.Lock()
		places := map[uint64]struct{}{}
		for i := 0; i < len(q.held) && len(places) < n; i++ {
			if number := q.held[i].number; number <= through {
				places[number] = struct{}{}
			}
		}
		q.mu.Unlock()
		if len(places) >= n {
			return nil
		}
		select {
		case <-q.more:
		case <-ctx.Done():
		}
	}
}

// settle waits at most a second until n messages up to the position through were redelivered, and sorts the queue: the
// server redelivers in order only messages whose AckWait ended at the same moment. It returns true if all came, and no
// delivery was lost between them: the server may send one new message to a subscriber that was just killed, and the
// next one to us. With false, the caller must read the missing messages from the stream: they were acknowledged late,
// or come after newer ones.
func (q *queue) settle(ctx context.Context, n int, through uint64) bool {
	bound, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	all := q.await(bound, n, through) == nil
	q.mu.Lock()
	defer q.mu.Unlock()
	all = all && !slices.ContainsFunc(q.held, func(h held) bool { return h.skipped })
	slices.SortFunc(q.held, func(a, b held) int { return cmp.Compare(a.number, b.number) })
	for i := range q.held {
		q.held[i].skipped = !all
	}
	return all
}

// done removes the oldest message, which next returned.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held[0] = held{}
	q.held = q.held[1:]
}

// keepAlive tells the server, at the interval every, that the messages in the queue are still being handled. It ends
// with ctx.
func (q *queue) keepAlive(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			q.mu.Lock()
			for i := range q.held {
				if h := &q.held[i]; now.Sub(h.told) > every/2 {
					h.told = now
					_ = h.message.InProgress() // if the report is lost, the server redelivers the message
				}
			}
			q.mu.Unlock()
		}
	}
}
