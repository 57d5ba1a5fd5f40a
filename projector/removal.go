package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// This file removes surplus pods: pods that are deleted and never counted (J-073). A policy may deny the finalizer
// patch or the deletion. Such a removal is retried with its own backoff and delays nothing else: meanwhile the pod
// counts as active and keeps its index (J-074). The removal is cancelled (Withdraw) when it has become pointless:
//
//	the pod                              then
//	-----------------------------------  ---------------------------------------------------------------
//	has ended, with the finalizer        counts like any other pod
//	has ended, without the finalizer     stays, with its logs, and does not count
//	no longer belongs to the Job         is released
//	is wanted again                      goes on; without the finalizer it does not count at its end (J-179)
//
// A pod that ended with the finalizer has its slot and index until it is counted, because its result decides whether a
// replacement is wanted.
//
// A try of the removal may be in flight, so the pod stays as it is until the outcome of the newest try is known. If
// that outcome is unknown, the removal is not cancelled before DropDoubt: the finalizer may still go, and then the pod
// could not be counted.

// Removal returns the ID of the command in flight that removes the pod. It panics if there is none.
func (p *Pod) Removal() events.CommandID { return p.removal().Name() }

// removalEnded updates a pod when a cancelled removal has failed: the pod is no longer surplus (to be deleted, never
// counted). But if the outcome of a finalizer removal is unknown, the removal goes on.
func (j *Job) removalEnded(p *Pod, flight *commands.Flight, f *events.CommandEnded) {
	if f.Ending == events.OutcomeUnknown && flight == p.Drop() {
		flight.Cancelled = false
		j.stand(p, flight, f)
		return
	}
	j.book.Land(flight)
	p.Surplus = false
}

// doubtDrop sets DropDoubt: the time until which a finalizer removal of unknown outcome may take effect on a surplus
// pod (to be deleted, never counted). A deletion needs no such time: the pod counts as active, and the Job waits until
// it has ended or terminates.
func (j *Job) doubtDrop(p *Pod, f *commands.Flight) {
	if p.Surplus && f == p.Drop() {
		p.DropDoubt = j.Now.Add(j.Settings.RequestTimeout)
	}
}

// podOf returns the pod that a command in flight is about; nil if it is about no pod.
func (j *Job) podOf(f *commands.Flight) *Pod {
	if f.Command.Traits().Target != events.TargetPod {
		return nil
	}
	return j.byUID[events.PodOf(f.Command)]
}

func (j *Job) launchDrop(f *commands.Flight) {
	c := f.Command.(*events.DropFinalizer)
	if p := j.byUID[c.Pod]; p != nil {
		j.update(p, func() {
			j.book.Launch(f, &p.target)
			p.Surplus = p.Surplus || c.ThenDelete
			p.NeverCounted = p.NeverCounted || (!c.ThenDelete && j.toCount(p))
		})
	}
}

func (j *Job) launchDelete(f *commands.Flight) {
	if p := j.podOf(f); p != nil {
		j.update(p, func() {
			j.book.Launch(f, &p.target)
			// If the pod has no finalizer and the Job goes on, the pod is never counted: it is surplus
			p.Surplus = p.Surplus || (!p.Held() && !j.failing && !j.succeeding)
		})
	}
}

// podEnded updates a pod when a command about it has ended. A refused command, or one of unknown outcome, is retried:
// it names the pod by UID, so a retry is safe.
func (j *Job) podEnded(flight *commands.Flight, f *events.CommandEnded, _ string) {
	p := j.podOf(flight)
	deletion := flight == p.Delete()
	overtaken := p.overtaken(flight, f)
	missing := f.Ending == events.Refused && (f.Class == events.RefusedNotFound || (deletion && f.Class == events.RefusedConflict))
	givenUp := flight.Cancelled
	j.update(p, func() {
		if f.Ending == events.OutcomeUnknown {
			j.doubtDrop(p, flight)
		}
		switch {
		case givenUp && f.Ending != events.Done && !missing:
			j.removalEnded(p, flight, f)
			return
		case f.Ending == events.OutcomeUnknown:
			j.stand(p, flight, f)
			return
		case f.Ending == events.Refused && !missing && overtaken == 0:
			j.stand(p, flight, f)
			return
		}
		j.book.Land(flight)
		switch {
		case missing:
			p.Vanished = true
		case overtaken != 0:
			p.Stale = overtaken
		case f.Ending != events.Done:
		case deletion:
			p.DeleteDone = p.Deleted == 0
		case p.Tracked && p.Version <= f.Version:
			p.DroppedIn = f.Version
		}
		p.Surplus = p.Surplus && !givenUp
	})
}

// overtaken returns the version that a finalizer removal required, if the API server refused the removal because the
// pod has a newer version; else 0. The command then ends, and a new decision follows once the newer version is seen.
func (p *Pod) overtaken(flight *commands.Flight, f *events.CommandEnded) uint64 {
	if f.Ending != events.Refused || f.Class != events.RefusedConflict || flight != p.Drop() {
		return 0
	}
	return events.VersionOf(flight.Command)
}

// stand puts a refused command about a pod into backoff, unless the pod has reached the command's goal already.
func (j *Job) stand(p *Pod, flight *commands.Flight, f *events.CommandEnded) {
	j.book.Retry(j.Now, flight, f)
	j.endMet(p)
}

// endMet ends a command in backoff if the pod has reached its goal: the finalizer is gone, or the pod terminates. After
// the deletion of the Job's object it also ends the deletion of a pod that has ended or has no owner, because no
// decision would withdraw that command.
func (j *Job) endMet(p *Pod) {
	if f := p.Drop(); f.InBackoff() && !p.Tracked {
		p.Surplus = p.Surplus && !f.Cancelled
		j.book.Land(f)
	}
	if f := p.Delete(); f.InBackoff() && (p.Leaving() || j.kept(p) || (j.Gone && p.Phase.Terminal())) {
		j.book.Land(f)
	}
}

// cancelRemoval cancels the removal of a surplus pod (to be deleted, never counted). If the removal is in backoff, a
// try may be in flight: its outcome is awaited.
func (j *Job) cancelRemoval(f *commands.Flight) {
	p := j.podOf(f)
	j.update(p, func() {
		if f.InBackoff() {
			f.Cancelled = true
		} else {
			j.book.Land(f)
		}
	})
}

// podRestarted updates a command about a pod when the process has restarted. A command in backoff goes on; any other
// ends, and the next decision asks again for what is still wanted.
func (j *Job) podRestarted(f *commands.Flight) {
	p := j.podOf(f)
	j.update(p, func() {
		j.doubtDrop(p, f)
		if f.InBackoff() {
			f.Cancelled = false
		} else {
			j.book.Land(f)
		}
	})
}
