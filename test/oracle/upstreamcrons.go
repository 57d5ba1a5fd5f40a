package oracle

import (
	"reflect"
	"time"
	"unsafe"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/pkg/controller/cronjob"
)

// arrange gives upstream's CronJob controller a clock that may be slow and, when the front is ordered, a queue that is
// patient. Both are fields of it that are there to be replaced, though not by other packages.
func (u *upstream) arrange(crons *cronjob.ControllerV2) {
	*field[func() time.Time](crons, "now") = func() time.Time { return time.Now().Add(time.Duration(u.skew.Load())) }
	switch queue := field[workqueue.TypedRateLimitingInterface[string]](crons, "queue"); {
	case u.mends != nil:
		if !u.sets { // its own queue merges delays with those after a failure, which a timed one would not
			*queue = looked{patient: patient{*queue}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
			break
		}
		clocked := newTimed(u, *queue)
		*queue = looked{patient: patient{clocked}, u: u, again: map[string]bool{}, failed: map[string]bool{}}
		u.step = func(time.Duration) { // it happens under the lock of the front
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

// patient is a queue that hands a key out once all that happened by then has been seen. Upstream looks at two caches,
// which two watches fill. Right after its own writes one of them may be older than the other, and then it tells of Jobs
// that it did not expect, or misses.
type patient struct {
	workqueue.TypedRateLimitingInterface[string]
}

// patience is a moment in which nothing happens but what happens at once.
const patience = time.Microsecond

// Get waits for a moment.
func (p patient) Get() (key string, shutdown bool) {
	key, shutdown = p.TypedRateLimitingInterface.Get()
	if !shutdown {
		sleep(patience)
	}
	return key, shutdown
}
