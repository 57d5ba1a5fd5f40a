package oracle

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// timed is a work queue whose delays end at a time of the controller's clock, even if that clock is set. In upstream's
// own queue a delay has a fixed length. If a key has several delays, the earliest wins (C-089).
type timed struct {
	workqueue.TypedRateLimitingInterface[string]
	u  *upstream
	mu sync.Mutex
	// delays are the running delays, by key.
	delays  map[string]*delay
	looking map[string]bool // keys that a worker got and has not given back with Done
	// keys that wait for a due time because their schedule was changed, and that no worker got since
	edited map[string]bool
}

type delay struct {
	until time.Time // end of the delay by the controller's clock
	timer *time.Timer
}

func newTimed(u *upstream, queue workqueue.TypedRateLimitingInterface[string]) *timed {
	return &timed{
		TypedRateLimitingInterface: queue, u: u, delays: map[string]*delay{}, looking: map[string]bool{}, edited: map[string]bool{},
	}
}

func (q *timed) now() time.Time { return time.Now().Add(time.Duration(q.u.skew.Load())) }

// AddAfter adds a key when d has passed on the controller's clock.
func (q *timed) AddAfter(key string, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.edited[key] = !q.looking[key] // outside of a worker, so an event handler calls it: a schedule was changed
	q.await(key, q.now().Add(d))
}

func (q *timed) await(key string, until time.Time) {
	old := q.delays[key]
	if old != nil && !until.Before(old.until) {
		return
	}
	if old != nil {
		old.timer.Stop()
	}
	delete(q.delays, key)
	left := until.Sub(q.now())
	if left <= 0 {
		q.Add(key)
		return
	}
	d := &delay{until: until}
	d.timer = time.AfterFunc(left, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.delays[key] == d {
			delete(q.delays, key)
			q.Add(key)
		}
	})
	q.delays[key] = d
}

// Get gives the next key to a worker.
func (q *timed) Get() (key string, shutdown bool) {
	key, shutdown = q.TypedRateLimitingInterface.Get()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looking[key], q.edited[key] = true, false
	return key, shutdown
}

// Done takes a key back from a worker.
func (q *timed) Done(key string) {
	q.mu.Lock()
	delete(q.looking, key)
	q.mu.Unlock()
	q.TypedRateLimitingInterface.Done(key)
}

// set adjusts the delays after the clock was set. A key whose schedule was changed waits for the next due time by the
// new clock, or for its old time if that is earlier. All other keys are added at once.
func (q *timed) set(keys []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range keys {
		if old := q.delays[key]; old != nil {
			old.timer.Stop()
			delete(q.delays, key)
			q.await(key, old.until)
		}
		if !q.edited[key] {
			q.Add(key)
			continue
		}
		if cronJob, err := q.u.cached.CronJobs(namespace).Get(key[len(namespace)+1:]); err == nil {
			if at, ok := dueTime(cronJob, q.now(), 1); ok {
				q.await(key, at.Add(100*time.Millisecond))
			}
		}
	}
}
