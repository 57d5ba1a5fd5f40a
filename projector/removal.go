package projector

import (
	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
)

// The removal of a surplus pod (J-073) may are in backoff: a policy denies the patch that takes the finalizer off, or
// the deletion. It is asked for again with its backoff, and holds up nothing: the pod is active as any other, in its
// slot and its index (J-074). The removal is cancelled (Withdraw) when there is nothing left of it to ask for:
//
//	the pod                              then
//	-----------------------------------  ---------------------------------------------------------------
//	ended, and carries the finalizer     is counted as any other
//	ended, and does not carry it         stays, with its logs, and is not counted
//	is the Job's no longer               is released
//	is wanted again                      goes on; without the finalizer it is not counted when it ends (J-179)
//
// A pod that ended with the finalizer on holds its slot and its index until it is counted: what it counts as decides
// whether another one is wanted.
//
// A try may be on its way, so the pod stays as it is until the end of the newest try is known. When a try ended
// unknown, the finalizer may go until DropDoubt has passed, so the removal is not cancelled before: the pod would be
// counted without it.

// Removal is the name of the pod's removal in flight. It is for pods that have one.
func (p *Pod) Removal() events.CommandID { return p.removal().Name() }

// removalEnded folds the end of the newest try of a removal that was cancelled, which was not done: the pod is surplus
// no more. Nobody knows of a finalizer whether it goes when the try ended unknown, so that removal goes on.
func (j *Job) removalEnded(p *Pod, flight *commands.Flight, f *events.CommandEnded) {
	if f.Ending == events.OutcomeUnknown && flight == p.Drop() {
		flight.Cancelled = false
		j.stand(p, flight, f)
		return
	}
	j.book.Land(flight)
	p.Surplus = false
}

// doubtDrop notes that it is unknown whether a try to remove a surplus pod's finalizer takes effect, and until when it
// may. Of a deletion nothing is noted: a pod that may be deleted is active, and the Job waits for it, until it is seen
// to have ended or to be on its way out.
func (j *Job) doubtDrop(p *Pod, f *commands.Flight) {
	if p.Surplus && f == p.Drop() {
		p.DropDoubt = j.Now.Add(j.Settings.RequestTimeout)
	}
}

// podOf is the pod that a flight is about; nil when it is about none.
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
			p.Surplus = p.Surplus || (!p.Held() && !j.failing && !j.succeeding) // surplus, and its finalizer is gone
		})
	}
}

// podEnded folds how a command about a pod ended. Whatever the reason, it is retried when it was refused, and when that
// is unknown: it names the pod by its UID, so asking again is safe.
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

// overtaken is the version at which the removal of a finalizer met a newer one, if that is how it ended; else 0. It
// ends so, and is decided again when the newer version has been seen.
func (p *Pod) overtaken(flight *commands.Flight, f *events.CommandEnded) uint64 {
	if f.Ending != events.Refused || f.Class != events.RefusedConflict || flight != p.Drop() {
		return 0
	}
	return events.VersionOf(flight.Command)
}

// stand puts a command about a pod into backoff, unless the observed pod already meets its goal.
func (j *Job) stand(p *Pod, flight *commands.Flight, f *events.CommandEnded) {
	j.book.Retry(j.Now, flight, f)
	j.endMet(p)
}

// endMet ends a refused command whose goal the observed pod already meets: its finalizer is gone, or it is on its way
// out. Of a Job that is gone it also ends the deletion of a pod that has ended or has no owner: no decision would
// withdraw it any more.
func (j *Job) endMet(p *Pod) {
	if f := p.Drop(); f.InBackoff() && !p.Tracked {
		p.Surplus = p.Surplus && !f.Cancelled
		j.book.Land(f)
	}
	if f := p.Delete(); f.InBackoff() && (p.Leaving() || j.kept(p) || (j.Gone && p.Phase.Terminal())) {
		j.book.Land(f)
	}
}

// cancelRemoval folds the decision to give a removal up. One that was refused may be on its way again: its end is
// awaited.
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

// podRestarted folds a process's start: it is decided again what is still wanted of the pod. What is in backoff goes
// on: it is asked again when it is due, or cancelled.
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
