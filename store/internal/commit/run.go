package commit

import (
	"sync"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Backend is what Run needs of a log.
type Backend[W any] struct {
	// Commit makes a group and offsets durable, without the lock. One of them may be empty. After an error nothing more is
	// committed.
	Commit func(group []*Batch[W], offsets map[string]events.Sequence) error
	// Committed is told, with the lock held, that the commit ended, before those who wait for a batch are told that it is
	// durable.
	Committed func(group []*Batch[W], err error)
}

// Run commits what waits, a group at a time, until the queue is closed and empty, or a commit fails. mu guards the
// queue.
//
// While fewer batches have come than made up the last group, it gathers for at most a quarter of the time the last
// commit took: else two halves of the appenders take turns.
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

// next waits for work and takes it from the queue; both are nil when the queue is closed and all is done.
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

// gather waits until that many batches wait, or for that long.
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

// Pause is for a commit that cannot go on yet: it waits for that long, or until something changes. It reports whether
// the queue is closing, when there is nothing to wait for. The caller does not hold the lock.
func (q *Queue[W]) Pause(mu *sync.Mutex, most time.Duration) (closing bool) {
	mu.Lock()
	defer mu.Unlock()
	if !q.closing {
		q.sleep(mu, most)
		return false
	}
	return true
}

// sleep gives mu up until something changes, or until d has passed; without limit when d is negative.
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
