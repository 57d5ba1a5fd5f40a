package oracle

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/cronjob"
)

// arrange replaces two unexported fields of upstream's CronJob controller that are meant to be replaced in tests. The
// clock becomes one that can be slow. The queue becomes a patient one (it waits until events are seen), except if
// upstream runs without mends and its goroutines shall decide the order.
func (u *upstream) arrange(crons *cronjob.ControllerV2) {
	*field[func() time.Time](crons, "now") = func() time.Time { return time.Now().Add(time.Duration(u.skew.Load())) }
	switch queue := field[workqueue.TypedRateLimitingInterface[string]](crons, "queue"); {
	case u.mends != nil:
		u.look = (*queue).Add
		// If no clock is set, keep upstream's own queue, which merges these delays with backoffs; a timed queue would
		// not.
		if !u.sets {
			*queue = looked{patient: patient{*queue, u.front.manner}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
			break
		}
		clocked := newTimed(u, *queue)
		*queue = looked{patient: patient{clocked, u.front.manner}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
		u.step = func(time.Duration) { // the caller has locked front
			u.mends.act(clockSet)
			var keys []string
			for name := range u.crons {
				keys = append(keys, namespace+"/"+name)
			}
			clocked.set(keys)
		}
	case u.front.manner != asItComes:
		*queue = patient{*queue, u.front.manner}
	}
}

// manner says in which order upstream's goroutines see things that happen at the same time. With a real controller,
// each of these orders can occur.
type manner uint8

const (
	asItComes manner = iota // as the goroutines happen to run
	// inOrder: creates of pods that are sent at the same time arrive in the order of the indexes. A sync of a CronJob
	// begins when all earlier events have been seen.
	inOrder
	// wholly is inOrder, and in addition a sync of a CronJob ends only when all events of its own writes have been
	// seen. So these events cause one more sync together, as in Jobledger. Otherwise each may cause one, and while
	// creates are refused each sync doubles the backoff.
	wholly
)

// manner returns the order of events (see the type) for the nth run of the scenario, from 0.
func (s Scenario) manner(n int) manner {
	switch {
	case n == 0:
		return wholly
	case n == 1 && len(s.CronJobs) > 0:
		return inOrder
	}
	return asItComes
}

func field[T any](crons *cronjob.ControllerV2, name string) *T {
	f := reflect.ValueOf(crons).Elem().FieldByName(name)
	return (*T)(unsafe.Pointer(f.UnsafeAddr()))
}

// patient is a work queue that gives out a key only when all events so far have been seen. Upstream uses two caches,
// filled by two watches. Right after its own writes one cache may be older than the other, and upstream would report
// unexpected or missing Jobs.
type patient struct {
	workqueue.TypedRateLimitingInterface[string]
	manner manner
}

// patience is a wait so short that, by the simulated clock, only work that takes no time can happen in it.
const patience = time.Microsecond

// Get returns the next key for a worker, after a wait of patience.
func (p patient) Get() (key string, shutdown bool) {
	key, shutdown = p.TypedRateLimitingInterface.Get()
	if !shutdown {
		sleep(patience)
	}
	return key, shutdown
}

// Done says that a worker has finished with a key. With the manner wholly, it first waits until all events of the
// sync's own writes have been seen.
func (p patient) Done(key string) {
	if p.manner == wholly {
		sleep(patience)
	}
	p.TypedRateLimitingInterface.Done(key)
}
