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

// queue holds the messages that the server has delivered and that are not acknowledged. The server delivers no more
// than the subscription's bound before it gets an acknowledgement, so the queue has a bound too. While they are held,
// the server is told that they are worked on.
type queue struct {
	broken context.CancelCauseFunc
	last   uint64        // delivery; the server numbers them
	more   chan struct{} // has a token when something was added

	mu   sync.Mutex
	held []held // the first is the one that next gave
}

type held struct {
	message jetstream.Msg
	place
	skipped bool      // a delivery before it did not arrive here
	told    time.Time // when the server last knew that a subscriber has it
}

func newQueue(broken context.CancelCauseFunc, last uint64) *queue {
	return &queue{broken: broken, last: last, more: make(chan struct{}, 1)}
}

// fill takes messages from the client until ctx ends. An error is what ctx ends with.
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

// next waits for the oldest message, which stays in the queue until done.
func (q *queue) next(ctx context.Context) (held, error) {
	if err := q.await(ctx, 1, math.MaxUint64); err != nil {
		return held{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held[0], nil
}

// await waits until the queue has that many of places up to that one. What was delivered more than once counts once.
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

// settle waits, not for long, until that many of places up to that one have been delivered again, all there are, and
// puts them in order: the server does so only with those that it took for lost at the same moment. It reports whether
// all came, and no delivery went elsewhere meanwhile: the server may send a new message to a subscriber that has just
// been killed, and the one after it here. Those that did not come stand behind newer ones, or were acknowledged late,
// and have to be read.
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

// done drops the message that next gave.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held[0] = held{}
	q.held = q.held[1:]
}

// keepAlive tells the server that often which messages are still held, until ctx ends.
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
					_ = h.message.InProgress() // if the server does not get it, it delivers the message again
				}
			}
			q.mu.Unlock()
		}
	}
}
