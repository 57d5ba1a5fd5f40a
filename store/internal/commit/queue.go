package commit

import (
	"fmt"
	"maps"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Limits of a group. A group begins at once when it has an urgent batch, else when idleBytes wait or idleDelay has
// passed.
const (
	groupRecords = 4096
	groupBytes   = 512 << 10
	idleBytes    = 64 << 10               // for batches that are not urgent
	idleDelay    = 100 * time.Millisecond // for a batch that is not urgent
)

// Queue holds the batches that are appended and not durable. Use New to create one.
type Queue[W any] struct {
	together func(first, next *W) bool

	batches   []*Batch[W]
	waiting   int64                      // bytes appended and not durable, including the group being committed
	queued    int64                      // the part of waiting in batches
	urgent    int                        // number of batches that a caller waits for
	offsets   map[string]events.Sequence // not durable yet
	gathering int                        // number of batches that Run waits for in gather; 0 outside it
	closing   bool
	failed    error

	wake chan struct{} // capacity 1; signals a change
}

// New returns an empty queue. together reports whether a batch may share a commit with the first batch of a group; nil
// means always.
func New[W any](together func(first, next *W) bool) *Queue[W] {
	return &Queue[W]{together: together, offsets: map[string]events.Sequence{}, wake: make(chan struct{}, 1)}
}

// Ended returns why nothing can be appended any more: ErrClosed, or ErrFailed with the cause; nil if it can.
func (q *Queue[W]) Ended() error {
	if q.closing {
		return store.ErrClosed
	}
	return q.Failed()
}

// Failed returns ErrFailed with the cause after a failed commit, else nil.
func (q *Queue[W]) Failed() error {
	if q.failed != nil {
		return fmt.Errorf("%w: %w", store.ErrFailed, q.failed)
	}
	return nil
}

// Waiting returns the number of bytes that are appended and not durable.
func (q *Queue[W]) Waiting() int64 { return q.waiting }

// Len returns the number of batches in the queue.
func (q *Queue[W]) Len() int { return len(q.batches) }

// Push adds a batch. With soon it is urgent: a caller waits for it.
func (q *Queue[W]) Push(b *Batch[W], soon bool) {
	b.soon, b.appended = soon, time.Now()
	q.batches = append(q.batches, b)
	q.waiting += b.bytes
	q.queued += b.bytes
	if soon {
		q.urgent++
	}
	if len(q.batches) >= q.gathering {
		q.Signal()
	}
}

// SetOffset adds an offset to the next commit.
func (q *Queue[W]) SetOffset(consumer string, through events.Sequence) { q.offsets[consumer] = through }

// Offsets returns the offsets for the next commit; nil when there are none.
func (q *Queue[W]) Offsets() map[string]events.Sequence {
	if len(q.offsets) == 0 {
		return nil
	}
	return maps.Clone(q.offsets)
}

// Take removes a group from the queue: the first batches that fit into one commit, at least one if there is any.
func (q *Queue[W]) Take() []*Batch[W] {
	records, bytes, n := 0, int64(0), 0
	for _, b := range q.batches {
		if n > 0 && (records+b.records > groupRecords || bytes+b.bytes > groupBytes || q.apart(b)) {
			break
		}
		records, bytes, n = records+b.records, bytes+b.bytes, n+1
	}
	return q.TakeFirst(n)
}

// TakeFirst removes the first n batches, or all if there are fewer.
func (q *Queue[W]) TakeFirst(n int) []*Batch[W] {
	n = min(n, len(q.batches))
	group := q.batches[:n:n]
	q.batches = q.batches[n:]
	for _, b := range group {
		q.queued -= b.bytes
		if b.soon {
			q.urgent--
		}
	}
	return group
}

func (q *Queue[W]) apart(b *Batch[W]) bool {
	return q.together != nil && !q.together(&q.batches[0].Work, &b.Work)
}

// Landed records that a taken group is durable, with these offsets. The caller must also call End for each batch.
func (q *Queue[W]) Landed(group []*Batch[W], offsets map[string]events.Sequence) {
	for consumer, through := range offsets {
		if q.offsets[consumer] == through {
			delete(q.offsets, consumer)
		}
	}
	for _, b := range group {
		q.waiting -= b.bytes
	}
}

// Fail ends the queue. The taken batches and all waiting ones end with ErrFailed and the cause of the first failure.
func (q *Queue[W]) Fail(err error, taken ...*Batch[W]) {
	if q.failed == nil {
		q.failed = err
	}
	for _, b := range taken {
		b.End(fmt.Errorf("%w: %w", store.ErrFailed, err))
	}
	for _, b := range q.batches {
		b.End(q.Failed())
	}
	q.batches, q.queued, q.urgent = nil, 0, 0
	q.Signal()
}

// Close prevents further appends; waiting batches can still be committed. It reports whether the queue was open.
func (q *Queue[W]) Close() bool {
	if q.closing {
		return false
	}
	q.closing = true
	q.Signal()
	return true
}

// Signal wakes Run, or a commit in Pause.
func (q *Queue[W]) Signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// due reports whether a commit should begin.
func (q *Queue[W]) due() bool {
	return len(q.batches) > 0 &&
		(q.urgent > 0 || q.queued >= idleBytes || q.closing || time.Since(q.batches[0].appended) >= idleDelay)
}
