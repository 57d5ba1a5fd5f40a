package projector

import (
	"iter"

	"github.com/jobledger/jobledger/events"
)

// A pod that is being deleted may still end by itself: a program that gets SIGTERM saves its work and exits with 0. So
// such a pod counts as failed only once it has been seen deleting for Settings.DeletedPodWait (J-022), and is judged by
// its phase if it ends before.
//
//	deletion seen     the record of its end, within the wait     succeeded, or failed
//	                  TimerFired, the wait is over               failed, whatever it does later
//	                  the Job fails, or is deleted               as without a wait
//
// Example: a deletion is seen at 12.0 s. With exit code 0 at 12.3 s the pod has succeeded. If it still runs at 13.0 s,
// it has failed. Meanwhile it keeps its slot and its index, so no other pod is made in its place.
//
// The wait begins with the record that first shows the deletion, so it survives a restart, and it moves with the clock.
// A pod that another controller counts has no wait: its status says what that controller made of it.

// StoppingUntil is when the next pod that is being deleted, and has not ended, counts as failed; 0 for none.
func (j *Job) StoppingUntil() events.Time {
	if j.stopping.first == nil {
		return 0
	}
	return j.stopping.first.StoppingSince.Add(j.Settings.DeletedPodWait)
}

// Stopping yields the pods that are being deleted and may still end by themselves, in the order in which their waits
// end.
func (j *Job) Stopping() iter.Seq[*Pod] { return j.stopping.all }

// judgeStopped has the pods count as failed whose wait is over. They enter the backoff record at once, so that they
// count in a Job that has succeeded meanwhile, too: they were deleted before (J-140).
func (j *Job) judgeStopped() {
	for until := j.StoppingUntil(); until != 0 && until <= j.Now; until = j.StoppingUntil() {
		p := j.stopping.first
		j.leave(p)
		p.StoppingSince = 0
		j.note(p)
		j.enter(p)
	}
}

// restarted folds a process's start: what was in flight is in doubt. Deletions, finalizer removals and reads are asked
// again where they are still wanted; a status write is decided afresh from a version seen since; a create keeps its
// slot until it has ended. What is in backoff stands.
func (j *Job) restarted() {
	j.rivalry.began = 0
	j.waitsAgain()
	j.doubtEnd(false)
	j.groupRestarted()
	j.book.Restart()
	j.Recheck = len(j.creates) > 0
}

// waitsAgain looks at the waits anew after a start, whose settings may be others. What another controller runs has
// none.
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
