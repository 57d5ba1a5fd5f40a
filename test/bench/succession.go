package bench

import "time"

// succession measures how soon a Job's controller reacts to the ends of its pods.
type succession struct {
	ends []time.Time // when the API server answered the writes that ended pods, in this order
	seen int         // number of pods so far

	successors  []time.Duration // times from the end of a pod until its successor was seen
	released    []time.Duration // times from the end of a pod until it was seen without finalizer
	lastRelease time.Time       // when a pod was last seen to lose its finalizer
}

func (t *timing) podEnded(at time.Time) { t.ends = append(t.ends, at) }

// podSeen notes that a pod is seen for the first time. A Job keeps as many pods as its parallelism allows. So with
// parallelism 10 the 11th pod is the successor of the first pod that ended, and so on. Retries of an index are left
// out, because they wait for a backoff, which the type retries measures.
func (t *timing) podSeen(at time.Time) {
	freed := t.seen - int(t.shape.parallelism)
	t.seen++
	if retried := t.shape.perIndex || t.shape.pods <= 1; retried || freed < 0 || freed >= len(t.ends) {
		return
	}
	t.successors = append(t.successors, at.Sub(t.ends[freed]))
}

// podReleased notes that a pod was seen without its finalizer. ended is zero if the API server has not yet answered the
// write of the pod's end: then the delay counts as 0.
func (t *timing) podReleased(ended, at time.Time) {
	if ended.IsZero() {
		ended = at
	}
	t.released = append(t.released, at.Sub(ended))
	t.lastRelease = at
}

// releasedLate returns how long after the end of the Job its last pod lost the finalizer.
func (t *timing) releasedLate() time.Duration { return max(0, t.lastRelease.Sub(t.finished)) }
