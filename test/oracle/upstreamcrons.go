package oracle

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/cronjob"
)

// arrange gives upstream's CronJob controller a clock that may be slow. Unless its goroutines decide the order, or if
// it is mended, it also gets a patient queue. Both are unexported fields, made to be replaced in tests.
func (u *upstream) arrange(crons *cronjob.ControllerV2) {
	*field[func() time.Time](crons, "now") = func() time.Time { return time.Now().Add(time.Duration(u.skew.Load())) }
	switch queue := field[workqueue.TypedRateLimitingInterface[string]](crons, "queue"); {
	case u.mends != nil:
		u.look = (*queue).Add
		if !u.sets { // upstream's queue merges delays with those after a failure; a timed queue would not
			*queue = looked{patient: patient{*queue, u.front.manner}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
			break
		}
		clocked := newTimed(u, *queue)
		*queue = looked{patient: patient{clocked, u.front.manner}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
		u.step = func(time.Duration) { // called under the lock of the front
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

// manner is how upstream's goroutines meet what happens at the same time. A real controller may meet it in any of these
// ways.
type manner uint8

const (
	asItComes manner = iota // the goroutines decide
	// inOrder: creates of pods that are sent at the same time arrive by index, and a CronJob is looked at when all earlier
	// events have been seen.
	inOrder
	// wholly: inOrder, and a look at a CronJob ends when all events of its own writes have been seen. So they cause one
	// more look, as in ours. Otherwise each may cause one. Where creates are refused, each look doubles the backoff.
	wholly
)

// manner returns the manner in which upstream plays the scenario for the nth time, from 0.
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

// patient is a queue that hands out a key only after all events up to now have been seen. Upstream looks at two caches,
// filled by two watches. Right after its own writes one cache may be older than the other, and upstream would tell of
// Jobs that it did not expect, or misses.
type patient struct {
	workqueue.TypedRateLimitingInterface[string]
	manner manner
}

// patience is a moment in which only effects without delay happen.
const patience = time.Microsecond

// Get waits for a moment.
func (p patient) Get() (key string, shutdown bool) {
	key, shutdown = p.TypedRateLimitingInterface.Get()
	if !shutdown {
		sleep(patience)
	}
	return key, shutdown
}

// Done takes a key back, wholly only when all events of the look's own writes have been seen.
func (p patient) Done(key string) {
	if p.manner == wholly {
		sleep(patience)
	}
	p.TypedRateLimitingInterface.Done(key)
}
