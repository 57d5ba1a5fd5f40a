package loop

import (
	"sync"

	"github.com/jobledger/jobledger/events"
)

// queueRoom is how many observations wait before whoever brings more has to wait.
const queueRoom = 8192

// Queue is where inputs wait for their turn. It is safe for concurrent use.
type Queue struct {
	mu     sync.Mutex
	space  sync.Cond
	items  []Input
	closed bool
	ready  chan struct{} // holds a token when something came in
	memory *memory       // nil when the log is not to be asked
}

// NewQueue makes an empty queue.
func NewQueue() *Queue {
	q := &Queue{ready: make(chan struct{}, 1)}
	q.space.L = &q.mu
	return q
}

// Observe brings an observation. It blocks while too many wait, and returns at once when the queue is closed.
func (q *Queue) Observe(o events.Observation) {
	in := Input{Observation: &o, past: q.memory.of(&o)}
	q.mu.Lock()
	for len(q.items) >= queueRoom && !q.closed {
		q.space.Wait()
	}
	q.add(in)
}

// Report brings the result of a command. It never blocks: there are no more of them than commands in flight.
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

// Close lets those who wait for room go on; what they bring is still taken.
func (q *Queue) Close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.space.Broadcast()
}

// waiting is what is there, oldest first. It stays valid until taken is called.
func (q *Queue) waiting() []Input {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.items[:len(q.items):len(q.items)]
}

// taken removes the first n.
func (q *Queue) taken(n int) {
	q.mu.Lock()
	clear(q.items[:n])
	q.items = q.items[n:]
	q.mu.Unlock()
	q.space.Broadcast()
}

// Len is how many inputs wait.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
