package bench

import "time"

// succession measures what follows the ends of one Job's pods. The zero value has seen none.
type succession struct {
	ends []time.Time // of pods, in the order of the API server's answers
	seen int         // number of pods

	successors  []time.Duration // from the end of a pod until its successor was seen
	released    []time.Duration // from the end of a pod until it was seen without finalizer
	lastRelease time.Time       // when the newest of these was seen
}

func (t *timing) podEnded(at time.Time) { t.ends = append(t.ends, at) }

// podSeen takes a pod that was not seen before. A Job keeps as many pods as its parallelism allows: the first end makes
// room for the first pod after these, and so on. Retries of an index are not included: they wait for a backoff, see
// retries.
func (t *timing) podSeen(at time.Time) {
	freed := t.seen - int(t.shape.parallelism)
	t.seen++
	if retried := t.shape.perIndex || t.shape.pods <= 1; retried || freed < 0 || freed >= len(t.ends) {
		return
	}
	t.successors = append(t.successors, at.Sub(t.ends[freed]))
}

// podReleased notes that a pod was seen without its finalizer. The answer to the write of its end may come later than
// that.
func (t *timing) podReleased(ended, at time.Time) {
	if ended.IsZero() {
		ended = at
	}
	t.released = append(t.released, at.Sub(ended))
	t.lastRelease = at
}

// releasedLate returns how long after the end of the Job its last pod still had a finalizer.
func (t *timing) releasedLate() time.Duration { return max(0, t.lastRelease.Sub(t.finished)) }
