package oracle

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/cronjob"
)

// arrange gives upstream's CronJob controller a clock that may be slow. If the front is ordered or upstream is mended,
// it also gives it a patient queue. Both are unexported fields, made to be replaced in tests.
func (u *upstream) arrange(crons *cronjob.ControllerV2) {
	*field[func() time.Time](crons, "now") = func() time.Time { return time.Now().Add(time.Duration(u.skew.Load())) }
	switch queue := field[workqueue.TypedRateLimitingInterface[string]](crons, "queue"); {
	case u.mends != nil:
		if !u.sets { // upstream's queue merges delays with those after a failure; a timed queue would not
			*queue = looked{patient: patient{*queue}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
			break
		}
		clocked := newTimed(u, *queue)
		*queue = looked{patient: patient{clocked}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
		u.step = func(time.Duration) { // called under the lock of the front
			u.mends.act(clockSet)
			var keys []string
			for name := range u.crons {
				keys = append(keys, namespace+"/"+name)
			}
			clocked.set(keys)
		}
	case u.front.ordered:
		*queue = patient{*queue}
	}
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
