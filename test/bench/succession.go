package bench

import "time"

// succession is what follows the ends of one Job's pods. Its zero value has seen none.
type succession struct {
	ends []time.Time // of pods, in the order in which the API server answered them
	seen int         // pods

	successors  []time.Duration // from the end of a pod until the pod was seen that took its place
	released    []time.Duration // from the end of a pod until it was seen without finalizer
	lastRelease time.Time       // when the newest of them was
}

func (t *timing) podEnded(at time.Time) { t.ends = append(t.ends, at) }

// podSeen takes a pod that was not seen before. In a Job that keeps as many pods as it may have at once, the first end
// makes room for the first pod beyond those, and so on. A retry of an index has a time of its own to wait for, see
// retries.
func (t *timing) podSeen(at time.Time) {
	freed := t.seen - int(t.shape.parallelism)
	t.seen++
	if retried := t.shape.perIndex || t.shape.pods <= 1; retried || freed < 0 || freed >= len(t.ends) {
		return
	}
	t.successors = append(t.successors, at.Sub(t.ends[freed]))
}

// podReleased takes that a pod was seen without its finalizer. The answer to the write of its end may come after that.
func (t *timing) podReleased(ended, at time.Time) {
	if ended.IsZero() {
		ended = at
	}
	t.released = append(t.released, at.Sub(ended))
	t.lastRelease = at
}

// releasedLate is how long after the Job was seen finished its last pod had a finalizer.
func (t *timing) releasedLate() time.Duration { return max(0, t.lastRelease.Sub(t.finished)) }
