package loop

import (
	"sync"

	"github.com/jobledger/jobledger/events"
)

// queueRoom is the number of queued inputs from which on Observe blocks.
const queueRoom = 8192

// Queue holds the inputs that wait for the loop's next turn. It is safe for concurrent use.
type Queue struct {
	mu     sync.Mutex
	space  sync.Cond
	items  []Input
	closed bool
	ready  chan struct{} // has an element when an input was added
	memory *memory       // looks up the newest records of Jobs; nil if the loop does that
}

// NewQueue makes an empty queue.
func NewQueue() *Queue {
	q := &Queue{ready: make(chan struct{}, 1)}
	q.space.L = &q.mu
	return q
}

// Observe adds an observation. It blocks while the queue is full; after Close it never blocks.
func (q *Queue) Observe(o events.Observation) {
	in := Input{Observation: &o, past: q.memory.of(&o)}
	q.mu.Lock()
	for len(q.items) >= queueRoom && !q.closed {
		q.space.Wait()
	}
	q.add(in)
}

// Report adds the result of a command. It never blocks: there are at most as many results as commands in flight.
func (q *Queue) Report(r events.TaskResult) {
	q.mu.Lock()
	q.add(Input{Result: &r})
}

func (q *Queue) add(in Input) {
	q.items = append(q.items, in)
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// Close makes Observe block no more, even if the queue is full. Inputs can still be added.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.space.Broadcast()
}

// waiting returns the queued inputs, oldest first. The slice is valid until the next call of taken.
func (q *Queue) waiting() []Input {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items[:len(q.items):len(q.items)]
}

// taken removes the first n inputs.
func (q *Queue) taken(n int) {
	q.mu.Lock()
	clear(q.items[:n])
	q.items = q.items[n:]
	q.mu.Unlock()
	q.space.Broadcast()
}

// Len returns the number of queued inputs.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
