package commit

import (
	"fmt"
	"maps"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// A group begins at once when it has an urgent batch, otherwise when enough bytes wait or waited long enough.
const (
	groupRecords = 4096
	groupBytes   = 512 << 10
	idleBytes    = 64 << 10               // of batches that are not urgent
	idleDelay    = 100 * time.Millisecond // of a batch that is not urgent
)

// Queue is what is appended and not durable. The zero Queue is not ready: make it with New.
type Queue[W any] struct {
	together func(first, next *W) bool

	batches   []*Batch[W]
	waiting   int64                      // bytes that are appended and not durable
	queued    int64                      // those of them in batches
	urgent    int                        // batches that a caller waits for
	offsets   map[string]events.Sequence // not durable yet
	gathering int                        // batches that Run gathers, and need not hear of before; 0 when it does not
	closing   bool
	failed    error

	wake chan struct{} // of capacity 1: something changed
}

// New makes an empty queue. together says whether a batch can go into one commit with the first of a group; nil:
// always.
func New[W any](together func(first, next *W) bool) *Queue[W] {
	return &Queue[W]{together: together, offsets: map[string]events.Sequence{}, wake: make(chan struct{}, 1)}
}

// Ended says why nothing can be appended any more: ErrClosed, or ErrFailed with the cause.
func (q *Queue[W]) Ended() error {
	if q.closing {
		return store.ErrClosed
	}
	return q.Failed()
}

// Failed is ErrFailed with the cause after a commit failed, else nil.
func (q *Queue[W]) Failed() error {
	if q.failed != nil {
		return fmt.Errorf("%w: %w", store.ErrFailed, q.failed)
	}
	return nil
}

// Waiting is how many bytes are appended and not durable.
func (q *Queue[W]) Waiting() int64 { return q.waiting }

// Len is how many batches wait to be taken.
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

// SetOffset lets an offset ride with the next commit.
func (q *Queue[W]) SetOffset(consumer string, through events.Sequence) { q.offsets[consumer] = through }

// Offsets are those that ride with the next commit; nil when there are none.
func (q *Queue[W]) Offsets() map[string]events.Sequence {
	if len(q.offsets) == 0 {
		return nil
	}
	return maps.Clone(q.offsets)
}

// Take removes a group from the queue: the first batches, as many as fit into one commit, and at least one of those
// that there are.
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

// TakeFirst removes the first n batches, or as many as there are.
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

// Landed notes that a group that was taken is durable, with these offsets. The batches are told by their End.
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

// Fail ends the queue: a group that was taken, and everything that waits, ends with ErrFailed and the cause of the
// first failure.
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

// Close lets what waits be committed; nothing can be appended any more. It reports whether the queue was open.
func (q *Queue[W]) Close() bool {
	if q.closing {
		return false
	}
	q.closing = true
	q.Signal()
	return true
}

// Signal wakes Run, or whoever sleeps in its commit.
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
