package oracle

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// timed is a work queue in which a delay ends at a time of the controller's clock, even if that clock is set in
// between. In upstream's own queue a delay has a fixed length. If a key has several delays, the earliest one counts
// (C-089).
type timed struct {
	workqueue.TypedRateLimitingInterface[string]
	u  *upstream
	mu sync.Mutex
	// the running delays, by key
	delays  map[string]*delay
	looking map[string]bool // keys that a worker has, which it gives back with Done
	// keys that wait for a due time since their schedule was changed, and that no worker has got since
	edited map[string]bool
}

type delay struct {
	until time.Time // end of the delay, by the controller's clock
	timer *time.Timer
}

func newTimed(u *upstream, queue workqueue.TypedRateLimitingInterface[string]) *timed {
	return &timed{
		TypedRateLimitingInterface: queue, u: u, delays: map[string]*delay{}, looking: map[string]bool{}, edited: map[string]bool{},
	}
}

func (q *timed) now() time.Time { return time.Now().Add(time.Duration(q.u.skew.Load())) }

// AddAfter adds a key to the queue when d has passed on the controller's clock.
func (q *timed) AddAfter(key string, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	// If no worker has the key, an event handler adds it, and so the schedule was changed.
	q.edited[key] = !q.looking[key]
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

// Get returns the next key for a worker.
func (q *timed) Get() (key string, shutdown bool) {
	key, shutdown = q.TypedRateLimitingInterface.Get()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looking[key], q.edited[key] = true, false
	return key, shutdown
}

// Done says that a worker has finished with a key.
func (q *timed) Done(key string) {
	q.mu.Lock()
	delete(q.looking, key)
	q.mu.Unlock()
	q.TypedRateLimitingInterface.Done(key)
}

// set is called when the controller's clock was set. It adds each key to the queue at once, except if the schedule of
// its CronJob was changed: then the key waits for the next due time by the new clock, or until its old time if that
// is earlier.
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
