package commit

import (
	"fmt"
	"maps"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Limits of a group, the batches of one commit. A commit begins at once if a batch is urgent. Otherwise it begins when
// idleBytes wait, or when the oldest batch has waited for idleDelay.
const (
	groupRecords = 4096
	groupBytes   = 512 << 10
	// Commit when so much waits, even if no batch is urgent.
	idleBytes = 64 << 10
	idleDelay = 100 * time.Millisecond // for a batch that is not urgent
)

// Queue holds the batches that were appended and are not durable yet. Use New to create one.
type Queue[W any] struct {
	together func(first, next *W) bool

	batches   []*Batch[W]
	waiting   int64                      // bytes that are not durable yet, including the group that is being committed
	queued    int64                      // the part of waiting that is in batches
	urgent    int                        // number of urgent batches
	offsets   map[string]events.Sequence // not durable yet
	gathering int                        // number of batches for which Run waits in gather; otherwise 0
	closing   bool
	failed    error

	wake chan struct{} // capacity 1; has an element after a change
}

// New returns an empty queue. together reports whether a batch may be in one commit with the first batch of the group;
// nil means always.
func New[W any](together func(first, next *W) bool) *Queue[W] {
	return &Queue[W]{together: together, offsets: map[string]events.Sequence{}, wake: make(chan struct{}, 1)}
}

// Ended returns why nothing can be appended any more: ErrClosed, or ErrFailed with its cause. It returns nil if appends
// are still possible.
func (q *Queue[W]) Ended() error {
	if q.closing {
		return store.ErrClosed
	}
	return q.Failed()
}

// Failed returns ErrFailed with its cause after a failed commit, otherwise nil.
func (q *Queue[W]) Failed() error {
	if q.failed != nil {
		return fmt.Errorf("%w: %w", store.ErrFailed, q.failed)
	}
	return nil
}

// Waiting returns the number of bytes that were appended and are not durable yet.
func (q *Queue[W]) Waiting() int64 { return q.waiting }

// Len returns the number of batches in the queue.
func (q *Queue[W]) Len() int { return len(q.batches) }

// Push adds a batch. soon makes it urgent: a caller waits for its commit.
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

// SetOffset adds a consumer's offset to the next commit.
func (q *Queue[W]) SetOffset(consumer string, through events.Sequence) { q.offsets[consumer] = through }

// Offsets returns the offsets to store with the next commit; nil if there are none.
func (q *Queue[W]) Offsets() map[string]events.Sequence {
	if len(q.offsets) == 0 {
		return nil
	}
	return maps.Clone(q.offsets)
}

// Take removes and returns a group: the first batches that fit into one commit, at least one if there is any.
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

// TakeFirst removes and returns the first n batches, or all if there are fewer.
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

// Landed notes that a group, which was taken from the queue, and these offsets are durable. The caller must also call
// End for each batch.
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

// Fail ends the queue after a failure. The batches in `taken` and all batches in the queue end with ErrFailed and the
// cause of the first failure.
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

// Close prevents further appends. Batches in the queue can still be committed. It reports whether the queue was open.
func (q *Queue[W]) Close() bool {
	if q.closing {
		return false
	}
	q.closing = true
	q.Signal()
	return true
}

// Signal wakes Run, or a commit that waits in Pause.
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
