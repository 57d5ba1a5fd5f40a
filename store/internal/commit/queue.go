package commit

import (
	"fmt"
	"maps"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Limits of a group, the batches of one commit. A group has at most groupRecords records and groupBytes bytes. A commit
// begins at once if a batch is urgent; otherwise when idleBytes wait, or when the oldest batch has waited for
// idleDelay.
const (
	groupRecords = 4096
	groupBytes   = 512 << 10
	// Commit when this many bytes wait, even if no batch is urgent.
	idleBytes = 64 << 10
	idleDelay = 100 * time.Millisecond // how long a batch that is not urgent waits at most
)

// Queue holds the batches that were appended and are not durable yet. Use New to create one.
type Queue[W any] struct {
	together func(first, next *W) bool

	batches   []*Batch[W]
	waiting   int64                      // bytes that are not durable yet, including the group that is being committed
	queued    int64                      // the bytes of waiting that are in batches still in the queue
	urgent    int                        // number of urgent batches in the queue (Push with soon)
	offsets   map[string]events.Sequence // for each consumer, up to which record it has read; not durable yet
	gathering int                        // number of batches that gather waits for; 0 while it does not wait
	closing   bool
	failed    error

	wake chan struct{} // capacity 1; has an element after a change
}

// New returns an empty queue. together reports whether the batch next may be in one commit with the batch first, which
// begins the group; nil means always.
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

// Failed returns ErrFailed, with the cause, after a failed commit; otherwise nil.
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

// Push adds a batch. soon makes it urgent: its commit begins as soon as the commit before it has ended.
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

// SetOffset sets up to which record a consumer has read; the next commit makes it durable.
func (q *Queue[W]) SetOffset(consumer string, through events.Sequence) { q.offsets[consumer] = through }

// Offsets returns, for each consumer, up to which record it has read, as far as that is not durable yet; nil if there
// is nothing to store.
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

// Landed notes that a group, which was taken from the queue, and these consumers' offsets are durable. The caller must
// also call End for each batch.
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

// Signal wakes a goroutine that waits in Run or in Pause, because the queue has changed.
func (q *Queue[W]) Signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// due reports whether a commit should begin: a batch is urgent, enough bytes wait, the oldest batch has waited long
// enough, or the queue is closing.
func (q *Queue[W]) due() bool {
	return len(q.batches) > 0 &&
		(q.urgent > 0 || q.queued >= idleBytes || q.closing || time.Since(q.batches[0].appended) >= idleDelay)
}
