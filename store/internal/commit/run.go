package commit

import (
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Backend holds the functions of a log that Run needs.
type Backend[W any] struct {
	// Commit makes a group of batches durable, and offsets: for each consumer, up to which record it has read. Either
	// may be empty. Run calls it without holding mu, Run's parameter. After an error, Run does not call it again.
	Commit func(group []*Batch[W], offsets map[string]events.Sequence) error
	// Committed is called after a commit, successful or not, while Run holds mu. Successful batches end (Batch.Done is
	// closed) after it, failed ones before it.
	Committed func(group []*Batch[W], err error)
}

// Run commits one group after the other until the queue is closed and empty, or a commit fails. mu guards the queue.
//
// If fewer batches wait than the last group had, Run waits for more, at most a quarter of the time that the last commit
// took. Otherwise the callers that append would split into two halves, which take turns.
func (q *Queue[W]) Run(mu *sync.Mutex, backend Backend[W]) {
	var lastSize int
	var lastTook time.Duration
	for {
		group, offsets := q.next(mu, lastSize, lastTook/4)
		if group == nil && offsets == nil {
			return
		}
		begin := time.Now()
		err := backend.Commit(group, offsets)
		lastSize, lastTook = len(group), time.Since(begin)
		mu.Lock()
		if err != nil {
			q.Fail(err, group...)
			backend.Committed(group, err)
			mu.Unlock()
			return
		}
		q.Landed(group, offsets)
		backend.Committed(group, nil)
		mu.Unlock()
		for _, b := range group {
			b.End(nil)
		}
	}
}

// next waits until a commit is due, and takes its batches and offsets from the queue. target and gather say for how
// many batches, and for how long at most, it waits in addition. Both results are nil if the queue is closed and empty,
// or has failed. The caller must not hold mu.
func (q *Queue[W]) next(mu *sync.Mutex, target int, gather time.Duration) ([]*Batch[W], map[string]events.Sequence) {
	mu.Lock()
	defer mu.Unlock()
	for !q.due() {
		switch {
		case q.failed != nil:
			return nil, nil
		case q.closing:
			return nil, q.Offsets()
		}
		wait := time.Duration(-1)
		if len(q.batches) > 0 {
			wait = max(0, idleDelay-time.Since(q.batches[0].appended))
		}
		q.sleep(mu, wait)
	}
	if target > 1 && gather > 0 {
		q.gather(mu, target, gather)
	}
	if q.failed != nil {
		return nil, nil
	}
	return q.Take(), q.Offsets()
}

// gather waits until `target` batches are in the queue, at most for the duration `most`. The caller holds mu.
func (q *Queue[W]) gather(mu *sync.Mutex, target int, most time.Duration) {
	q.gathering = target
	for deadline := time.Now().Add(most); len(q.batches) < target && !q.closing && q.queued < groupBytes; {
		left := time.Until(deadline)
		if left <= 0 {
			break
		}
		q.sleep(mu, left)
	}
	q.gathering = 0
}

// Pause waits until the queue changes, at most for the duration `most`. A commit calls it when it cannot continue yet.
// If the queue is closing, it returns true at once. The caller must not hold mu.
func (q *Queue[W]) Pause(mu *sync.Mutex, most time.Duration) (closing bool) {
	mu.Lock()
	defer mu.Unlock()
	if !q.closing {
		q.sleep(mu, most)
		return false
	}
	return true
}

// sleep releases mu, which the caller holds, and waits until the queue changes or d has passed; then it takes mu again.
// A negative d means no limit.
func (q *Queue[W]) sleep(mu *sync.Mutex, d time.Duration) {
	mu.Unlock()
	defer mu.Lock()
	if d < 0 {
		<-q.wake
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-q.wake:
	case <-timer.C:
	}
}
