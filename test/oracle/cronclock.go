package oracle

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// timed is a queue with delays that end at times of the controller's clock, which may be set; in upstream's queue a
// delay has a fixed length. Of several delays of one key the earliest wins (C-089).
type timed struct {
	workqueue.TypedRateLimitingInterface[string]
	u  *upstream
	mu sync.Mutex
	// delays are the running delays, by key.
	delays  map[string]*delay
	looking map[string]bool // keys that were handed out, until Done
	edited  map[string]bool // keys that wait because their schedule was changed, and were not handed out since
}

type delay struct {
	until time.Time // by the controller's clock
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
	q.edited[key] = !q.looking[key] // a handler asks, not a look at the CronJob
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

// Get hands a key out.
func (q *timed) Get() (key string, shutdown bool) {
	key, shutdown = q.TypedRateLimitingInterface.Get()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.looking[key], q.edited[key] = true, false
	return key, shutdown
}

// Done takes a key back.
func (q *timed) Done(key string) {
	q.mu.Lock()
	delete(q.looking, key)
	q.mu.Unlock()
	q.TypedRateLimitingInterface.Done(key)
}

// set follows the clock after it was set. A key that waits because its schedule was changed waits for the next due time
// by the new clock, or for its old time if that is earlier. All other keys are looked at.
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
