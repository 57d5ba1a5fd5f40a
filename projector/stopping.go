package projector

import (
	"iter"

	"github.com/jobledger/jobledger/events"
)

// A pod that is being deleted may still end by itself: a program that gets SIGTERM saves its work and exits with 0. So such a pod counts
// as failed only once it has been seen deleting for Settings.DeletedPodWait (J-022), and is judged by its phase if it ends before.
//
//	deletion seen     the record of its end, within the wait     succeeded, or failed
//	                  TimerFired, the wait is over               failed, whatever it does later
//	                  the Job fails, or is deleted               as without a wait
//
// Example: a deletion is seen at 12.0 s. With exit code 0 at 12.3 s the pod has succeeded. If it still runs at 13.0 s, it has failed.
// Meanwhile it keeps its slot and its index, so no other pod is made in its place.
//
// The wait begins with the record that first shows the deletion, so it survives a restart, and it moves with the clock. A pod that another
// controller counts has no wait: its status says what that controller made of it.

// stops notes that a record shows the pod's deletion for the first time. before: the pod was known to be deleted, or had ended.
func (j *Job) stops(p *Pod, before bool) {
	if before || p.Deleted == 0 || p.Phase.Terminal() || j.succeeding || j.Observed() || j.Stream.Kind != events.StreamJob {
		return
	}
	if j.Settings.DeletedPodWait > 0 {
		p.StoppingSince = j.Now
	}
}

// mayEnd reports whether a pod that is being deleted may still end by itself, and does not count as failed yet. What it says is for pods
// that count as failed without it: outside failed-only mode, and not yet accounted for.
func (j *Job) mayEnd(p *Pod) bool {
	return p.StoppingSince != 0 && !p.Phase.Terminal() && !j.failing && j.Deleted == 0 && !j.Observed()
}

// stopped reports whether the pod was deleted before its Job succeeded, and may have ended by itself since: its end counts (J-140).
func (j *Job) stopped(p *Pod) bool { return p.StoppingSince != 0 && !j.FailedOnly }

// enterStopping is the pod's share while it may end by itself: it holds its slot and its index as a pod that runs.
func (j *Job) enterStopping(p *Pod) {
	if p.in.stopping = p.stage == Stopping; !p.in.stopping {
		return
	}
	p.in.running = j.PerIndex
	if j.Indexed {
		p.in.index = p.Index
	}
}

// StoppingUntil is when the next pod that is being deleted, and has not ended, counts as failed; 0 for none.
func (j *Job) StoppingUntil() events.Time {
	if j.stopping.first == nil {
		return 0
	}
	return j.stopping.first.StoppingSince.Add(j.Settings.DeletedPodWait)
}

// Stopping yields the pods that are being deleted and may still end by themselves, in the order in which their waits end.
func (j *Job) Stopping() iter.Seq[*Pod] { return j.stopping.all }

// judgeStopped has the pods count as failed whose wait is over. They enter the backoff record at once, so that they count in a Job that
// has succeeded meanwhile, too: they were deleted before (J-140).
func (j *Job) judgeStopped() {
	for until := j.StoppingUntil(); until != 0 && until <= j.Now; until = j.StoppingUntil() {
		p := j.stopping.first
		j.leave(p)
		p.StoppingSince = 0
		j.note(p)
		j.enter(p)
	}
}

// waitsAgain looks at the waits anew after a start, whose settings may be others. What another controller runs has none.
func (j *Job) waitsAgain() {
	observed := j.Observed()
	for p := range j.stopping.all {
		j.update(p, func() {
			if observed {
				p.StoppingSince = 0
			}
		})
	}
}

// pushStopping puts a pod in before those whose wait ends later: mostly it is the last.
func (q *queue) pushStopping(p *Pod) {
	after := q.last
	for after != nil && after.StoppingSince > p.StoppingSince {
		after = after.neighbours[q.which].prev
	}
	if after == q.last {
		q.push(p)
		return
	}
	at := &p.neighbours[q.which]
	if at.prev = after; after == nil {
		at.next, q.first = q.first, p
	} else {
		at.next, after.neighbours[q.which].next = after.neighbours[q.which].next, p
	}
	at.next.neighbours[q.which].prev = p
	q.n++
}
