package projector

import (
	"iter"

	"github.com/jobledger/jobledger/events"
)

// A pod under deletion may still end by itself: a program that gets SIGTERM may save its work and exit with 0. So such
// a pod counts as failed only after a wait, Settings.DeletedPodWait (J-022). If it ends before, its phase counts.
//
//	the deletion is seen, then                             the pod
//	------------------------------------------------------ -----------------------------------
//	the record of its end, within the wait                 succeeded, or failed
//	TimerFired: the wait is over                           failed, whatever it does later
//	the Job fails, or is deleted                           counts as without a wait
//
// Example: a deletion is seen at 12.0 s. With exit code 0 at 12.3 s the pod has succeeded. If it still runs at 13.0 s,
// it has failed. Meanwhile it keeps its slot and its index, so no replacement is created.
//
// The wait begins with the record that first shows the deletion, so it survives a restart. It moves with clock steps.
// There is no wait for a pod of a Job that another controller runs: that controller's status says how the pod counts.

// StoppingUntil returns when the next pod under deletion counts as failed because it has not ended by itself; 0 for
// none.
func (j *Job) StoppingUntil() events.Time {
	if j.stopping.first == nil {
		return 0
	}
	return j.stopping.first.StoppingSince.Add(j.Settings.DeletedPodWait)
}

// Stopping yields the pods under deletion that may still end by themselves, ordered by the end of their waits.
func (j *Job) Stopping() iter.Seq[*Pod] { return j.stopping.all }

// judgeStopped counts the pods whose wait is over as failed, and enters them into the backoff record at once. So they
// count even if the Job has succeeded meanwhile, because they were deleted before (J-140).
func (j *Job) judgeStopped() {
	for until := j.StoppingUntil(); until != 0 && until <= j.Now; until = j.StoppingUntil() {
		p := j.stopping.first
		j.leave(p)
		p.StoppingSince = 0
		j.note(p)
		j.enter(p)
	}
}

// restarted updates the Job when the process has restarted: the outcome of each command in flight becomes unknown. The
// next decision asks again for deletions, finalizer removals and reads that are still wanted. A status write is decided
// again from a newer version. A create stays until its outcome is known. Refused commands in backoff stay in flight.
func (j *Job) restarted() {
	j.rivalry.began = 0
	j.waitsAgain()
	j.doubtEnd(false)
	j.groupRestarted()
	j.book.Restart()
	j.Recheck = len(j.creates) > 0
}

// waitsAgain recomputes the waits for pods under deletion when the process has restarted, because the settings may have
// changed. Jobs that another controller runs have no such waits.
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
