package bench

import (
	"slices"
	"testing"
	"time"
)

func TestTheEndOfAPodMakesRoomForTheNext(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	job := newTiming()
	job.shape = shape{pods: 4, parallelism: 2}
	job.podSeen(at(0))
	job.podSeen(at(1))
	job.podEnded(at(10))
	job.podEnded(at(20))
	job.podSeen(at(13)) // the successor of the pod that ended first
	job.podSeen(at(21))
	job.podSeen(at(22)) // no end made room for this pod: it has no time
	if want := []time.Duration{3 * time.Second, time.Second}; !slices.Equal(job.successors, want) {
		t.Errorf("successors after %v, want %v", job.successors, want)
	}
	job.podReleased(at(10), at(12))
	job.podReleased(time.Time{}, at(31)) // its end was not answered yet
	job.finished = at(30)
	got, want := append(job.released, job.releasedLate()), []time.Duration{2 * time.Second, 0, time.Second}
	if !slices.Equal(got, want) {
		t.Errorf("released after %v, want %v; the last one is that of the last pod after the Job's end", got, want)
	}
	retried := newTiming()
	retried.shape = shape{pods: 2, parallelism: 2, perIndex: true}
	for i := range 3 {
		retried.podSeen(at(i))
		retried.podEnded(at(i))
	}
	if len(retried.successors) > 0 {
		t.Errorf("a retry that waits for its backoff is no successor: %v", retried.successors)
	}
}
