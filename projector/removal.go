package projector

import "github.com/jobledger/jobledger/events"

// The removal of a surplus pod (J-073) may are in backoff: a policy denies the patch that takes the finalizer off, or the
// deletion. It is asked for again with its backoff, and holds up nothing: the pod is active as any other, in its slot and its
// index (J-074). The removal is cancelled (Withdraw) when there is nothing left of it to ask for:
//
//	the pod                              then
//	-----------------------------------  ---------------------------------------------------------------
//	ended, and carries the finalizer     is counted as any other
//	ended, and does not carry it         stays, with its logs, and is not counted
//	is the Job's no longer               is released
//	is wanted again                      goes on; without the finalizer it is not counted when it ends (J-179)
//
// A pod that ended with the finalizer on holds its slot and its index until it is counted: what it counts as decides whether another one
// is wanted.
//
// A try may be on its way, so the pod stays as it is until the end of the newest try is known. When a try ended unknown, the
// finalizer may go until DropDoubt has passed, so the removal is not cancelled before: the pod would be counted without it.

// removal is the pod's removal in flight, if any: that of its finalizer as surplus, or its deletion.
func (p *Pod) removal() *Flight {
	if p.Surplus && p.Drop != nil {
		return p.Drop
	}
	return p.Delete
}

// removed reports whether nothing is left to do for a surplus pod, which has ended and carries no finalizer of ours: it stays, with
// its logs, and is adopted and released like any pod that was cancelled.
func (p *Pod) removed() bool { return p.Drop == nil && p.Delete == nil && !p.Held() && !p.Active() }

// removes reports whether the removal of a surplus pod goes on, or is yet to begin. It goes on when the Job is gone, but not of a pod
// that has no owner then: whoever deleted the Job wants to keep it.
func (j *Job) removes(p *Pod) bool { return p.Surplus && !p.removed() && !j.kept(p) }

// kept reports whether the pod was orphaned when its Job was deleted.
func (j *Job) kept(p *Pod) bool { return j.Gone && p.Owner == "" }

// Removal is the name of the pod's removal in flight. It is for pods that have one.
func (p *Pod) Removal() events.CommandID { return p.removal().Name }

// enterRemoval finds what the pod's removal adds to the Job's tallies.
func (j *Job) enterRemoval(p *Pod, claimed bool) {
	f := p.removal()
	active, stands := claimed && p.Active(), f.refused() && !f.Cancelled
	p.in.surplus = p.Surplus && (p.Drop != nil || (!p.Leaving() && (p.Held() || p.Active())))
	p.in.removing = (p.in.surplus || p.Delete != nil) && !f.refused()
	p.in.refused = stands && active && p.Surplus
	p.in.pointless = stands && !active
	p.in.unsure = claimed && p.Surplus && f.refused() && p.Phase.Terminal() && p.Held()
	p.in.spared = f.refused() && f.Cancelled && active
}

// removalEnded folds the end of the newest try of a removal that was cancelled, which was not done: the pod is surplus no more.
// Nobody knows of a finalizer whether it goes when the try ended unknown, so that removal goes on.
func (j *Job) removalEnded(p *Pod, f *events.CommandEnded) {
	if f.Ending == events.OutcomeUnknown && p.Drop != nil && p.Drop.Name == f.Command {
		p.Drop.Cancelled = false
		j.stand(p, f)
		return
	}
	j.land(f.Command)
	p.Surplus = false
}

// doubtDrop notes that it is unknown whether a try to remove a surplus pod's finalizer takes effect, and until when it may. Of a
// deletion nothing is noted: a pod that may be deleted is active, and the Job waits for it, until it is seen to have ended or to
// be on its way out.
func (j *Job) doubtDrop(p *Pod, name events.CommandID) {
	if p.Surplus && p.Drop != nil && p.Drop.Name == name {
		p.DropDoubt = j.Now.Add(j.Settings.RequestTimeout)
	}
}
