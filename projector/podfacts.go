package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/commands"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// facts recomputes most of what the pod adds to the Job's counts (p.in). The rest depends on the pod's stage, which
// says how far the pod is on its way into the status; method enter computes it.
func (j *Job) facts(p *Pod) {
	claimed := j.claimed(p)
	p.in = share{index: events.NoIndex}
	_, p.in.adopting = p.claim().(*events.AdoptPod)
	_, p.in.releasing = p.claim().(*events.ReleasePod)
	if !p.Counted {
		counted := claimed || string(p.Maker) == j.Stream.ID
		p.Counted = j.accounted(p) || (counted && p.Phase.Terminal() && !p.Held())
		p.touched = p.touched || p.Counted
	}
	j.enterRemoval(p, claimed)
	if claimed {
		p.in.active, p.in.terminating = p.Active(), p.Terminating()
		p.in.ready = p.in.active && p.Ready
		p.in.idle = p.in.active && !p.Surplus && p.Delete() == nil
		p.in.misplaced = p.in.idle && !j.indexValid(p)
		if p.Phase != events.PodUnknown && !p.Phase.Terminal() {
			p.in.restarts = p.Restarts
		}
		holds := p.in.active || (p.in.terminating && j.FailedOnly) || p.in.unsure
		if holds && j.Indexed && j.indexValid(p) {
			p.in.index = p.Index
		}
	}
	p.in.going = p.in.active && p.in.removing
	p.in.held = claimed && p.Held()
	p.in.dropping = p.in.held && p.Drop() != nil && !p.Drop().InBackoff()
	dropped := p.Drop() != nil && !p.Surplus && !j.accounted(p)
	p.in.neverCounted = claimed && (p.NeverCounted || dropped) && p.Held()
	_, uncounted := j.uncounted[p.UID]
	p.in.countable = uncounted && j.Countable(p.UID)
	p.in.running = j.PerIndex && p.in.active && j.indexValid(p)
	p.in.fallen = j.failedByItself(p)
}

// claimed reports whether the pod counts for the Job: the Job owns it, and its selector matches (J-173). It is false
// for an orphan pod of a namespace, and before the Job's object was seen.
func (j *Job) claimed(p *Pod) bool {
	return j.Spec != nil && p.Selected && string(p.Owner) == j.Stream.ID
}

// Claims reports whether the pod is the Job's: the Job owns it, and its selector matches (J-173).
func (j *Job) Claims(p *Pod) bool { return j.claimed(p) }

// accounted reports whether the published status already accounts for the pod: it lists the pod as uncounted, or has
// its index as completed. An index published as failed stays failed (J-117), even if a pod of it succeeds later.
// Without backoffLimitPerIndex the status field failedIndexes is ignored (J-040).
func (j *Job) accounted(p *Pod) bool {
	if _, ok := j.uncounted[p.UID]; ok {
		return true
	}
	return j.Indexed && p.Phase == events.PodSucceeded &&
		(j.Base.Completed.Has(p.Index) || (j.PerIndex && j.Base.FailedIndexes.Has(p.Index)))
}

// Counts reports whether FailedCount or SucceededCount includes the pod, and whether the published status accounts for
// it. Once the status has added the pod to its numbers, the pod itself counts no more.
func (j *Job) Counts(p *Pod) (failed, succeeded, stored bool) {
	if failed, listed := j.uncounted[p.UID]; listed {
		return failed, !failed, true
	}
	return p.in.freshFailed || p.in.heldCounted, p.in.freshSucceeded && (!j.Indexed || p.in.completing), j.accounted(p)
}

// indexValid reports whether the pod's index is in range; true if the Job is not Indexed.
func (j *Job) indexValid(p *Pod) bool {
	return !j.Indexed || (p.Index >= 0 && p.Index < j.Completions)
}

// toCount reports whether the Job's status has to count the pod once it ends.
func (j *Job) toCount(p *Pod) bool {
	return j.claimed(p) && j.indexValid(p) && !j.accounted(p) && !j.Gone && !j.finished
}

// Countable reports whether a pod that status.uncountedTerminatedPods lists can move to the status's counters: it no
// longer has the finalizer (J-087).
func (j *Job) Countable(uid types.UID) bool {
	p := j.byUID[uid]
	return p == nil || !p.Held()
}

// enterRemoval recomputes the part of the pod's share (what it adds to the Job's counts) that depends on its removal.
// The removal is its deletion, or for a surplus pod (to be deleted, never counted) first the removal of its finalizer.
func (j *Job) enterRemoval(p *Pod, claimed bool) {
	f := p.removal()
	active, stands := claimed && p.Active(), f.InBackoff() && !f.Cancelled
	p.in.surplus = p.Surplus && (p.Drop() != nil || (!p.Leaving() && (p.Held() || p.Active())))
	p.in.removing = (p.in.surplus || p.Delete() != nil) && !f.InBackoff()
	p.in.refused = stands && active && p.Surplus
	p.in.pointless = stands && !active
	p.in.unsure = claimed && p.Surplus && f.InBackoff() && p.Phase.Terminal() && p.Held()
	p.in.unsureSuccess = p.in.unsure && p.Phase == events.PodSucceeded
	p.in.spared = f.InBackoff() && f.Cancelled && active
}

// removal returns the command in flight that removes the pod: the finalizer removal of a surplus pod (to be deleted,
// never counted), or a deletion; nil for none.
func (p *Pod) removal() *commands.Flight {
	if f := p.Drop(); p.Surplus && f != nil {
		return f
	}
	return p.Delete()
}

// Drop returns the pod's finalizer removal in flight; nil for none.
func (p *Pod) Drop() *commands.Flight { return p.target.Flight(events.SlotFinalizer) }

// Delete returns the pod's deletion in flight; nil for none.
func (p *Pod) Delete() *commands.Flight { return p.target.Flight(events.SlotDelete) }

// Held reports whether the pod still has the tracking finalizer, as far as known.
func (p *Pod) Held() bool { return p.Tracked && p.DroppedIn == 0 && !p.Vanished }

// Active reports whether the pod has neither ended nor started to terminate.
func (p *Pod) Active() bool { return !p.Phase.Terminal() && !p.Leaving() }

// Leaving reports whether the pod's deletion is certain.
func (p *Pod) Leaving() bool { return p.Deleted != 0 || p.DeleteDone || p.Vanished }

// Terminating reports whether the pod is under deletion and has not ended.
func (p *Pod) Terminating() bool { return !p.Phase.Terminal() && p.Leaving() && !p.Vanished }

// Claim returns the pod's adoption or release in flight; nil for none.
func (p *Pod) Claim() *commands.Flight { return p.target.Flight(events.SlotClaim) }

// claim returns the command that adopts or releases the pod, if it is in flight; nil for none.
func (p *Pod) claim() events.Command {
	if f := p.Claim(); f != nil {
		return f.Command
	}
	return nil
}

// failedByItself reports whether the pod failed or was deleted in a way that counts against the backoffLimitPerIndex of
// its index.
func (j *Job) failedByItself(p *Pod) bool {
	return j.PerIndex && (p.Held() || p.written) && !p.Surplus && !p.NeverCounted && p.Phase != events.PodSucceeded && j.toCount(p) &&
		(p.Phase == events.PodFailed || (p.Deleted != 0 && !j.FailedOnly && !j.mayEnd(p)))
}

// match sets p.match to the podFailurePolicy rule that matches the pod. It does so if the pod is the Job's and has
// failed; if the Job fails, also for a pod that has not succeeded. Otherwise there is no match.
func (j *Job) match(p *Pod) {
	p.match = policy.Match{}
	if j.claimed(p) && p.Phase != events.PodSucceeded && (p.Phase == events.PodFailed || j.failing) {
		p.match = j.policies.Match(&p.PodSeen, j.PerIndex)
	}
	p.in.failJob = j.failsJob(p)
	p.in.fatal = p.match.Action == policy.FailJob
}

// failsJob reports whether the pod's failure fails the Job: a FailJob rule matches it, and the pod has to be counted or
// is part of a status write in flight. A pod without the finalizer that is not counted does not fail the Job: its exit
// code results from our own deletion. The missing finalizer shows that even if the log was lost (J-133).
func (j *Job) failsJob(p *Pod) bool {
	if p.match.Action != policy.FailJob || p.Surplus || p.NeverCounted {
		return false
	}
	_, listed := j.uncounted[p.UID]
	return listed || p.written || p.Held()
}

// FailsJob reports whether the pod's failure fails the Job (J-131, J-133).
func (p *Pod) FailsJob() bool { return p.in.failJob }

// mayEnd reports whether a pod under deletion may still end by itself, so that it does not count as failed yet. This
// applies only to pods that would otherwise count as failed: outside failed-only mode, and not accounted for yet.
func (j *Job) mayEnd(p *Pod) bool {
	return p.StoppingSince != 0 && !p.Phase.Terminal() && !j.failing && j.Deleted == 0 && !j.Observed()
}

// Observed reports whether another controller runs the Job, by the settings and spec.managedBy. Before the Job's object
// was seen, it is true only in the mode that observes all Jobs.
func (j *Job) Observed() bool {
	if j.Settings.Mode == events.ModeObserve {
		return true
	}
	return j.Version != 0 && j.Settings.Observes(j.ManagedBy)
}
