package projector

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/indexset"
)

// claimed reports whether the pod is the Job's: owned by it and matched by its selector (J-173). In a namespace's stream
// and on a placeholder no pod is.
func (j *Job) claimed(p *Pod) bool {
	return j.Spec != nil && p.Selected && string(p.Owner) == j.Stream.ID
}

// indexValid reports whether the pod's index is one of the Job's; of a Job that is not Indexed every pod's is.
func (j *Job) indexValid(p *Pod) bool {
	return !j.Indexed || (p.Index >= 0 && p.Index < j.Completions)
}

// ended reports whether the pod counts as ended, by the matrix of J-023; of a failing Job every pod does (J-038). That a
// pod is being deleted counts once it has been seen.
func (j *Job) ended(p *Pod) bool {
	return p.Phase.Terminal() || (p.Deleted != 0 && !j.FailedOnly) || j.failing
}

// toCount reports whether the pod is one that is to be counted, once it has ended.
func (j *Job) toCount(p *Pod) bool {
	return j.claimed(p) && j.indexValid(p) && !j.accounted(p) && !j.Gone && !j.finished
}

// accounted reports whether the published status accounts for the pod already. An index that is published as failed stays so
// (J-117), whatever pod of it succeeds later; of a Job without a limit per index that field says nothing (J-040).
func (j *Job) accounted(p *Pod) bool {
	if _, ok := j.uncounted[p.UID]; ok {
		return true
	}
	return j.Indexed && p.Phase == events.PodSucceeded &&
		(j.Base.Completed.Has(p.Index) || (j.PerIndex && j.Base.FailedIndexes.Has(p.Index)))
}

// stageOf says how far the accounting of the pod has come. Finalizers of pods that are not to be counted go at once:
// of Jobs that are finished or gone (J-100), of pods that do not end while their Job succeeds or is deleted (J-091), of
// pods without a valid index that have ended, or whose Job does (J-035, J-090).
func (j *Job) stageOf(p *Pod) Stage {
	switch {
	case j.removes(p) && !j.finished:
		if p.Drop() == nil && p.Delete() == nil {
			return Surplus
		}
		return Untouched
	case p.written && !j.accounted(p):
		return Unlisted // the write may be stored already, whatever became of the pod meanwhile
	case p.Claim() != nil:
		return Untouched
	case j.adopts(p):
		return Orphaned
	case j.disowns(p):
		return Disowned
	case !p.Held():
		return Untouched
	case p.Drop() != nil:
		return Dropping // whatever was seen of it since that was decided
	case p.Owner == "" && p.Version <= p.Stale:
		return Untouched // what is done to it is done to one version, and there is a newer one
	case j.Stream.Kind == events.StreamNamespace:
		if len(p.Candidates) > 0 {
			return Untouched // until they are known
		}
		return Released
	case j.Gone || j.finished:
		return Released
	case !j.claimed(p):
		if j.Deleted != 0 || p.Owner == "" {
			return Released // else a foreground deletion would wait for ever (J-102); and J-100
		}
		return Untouched
	case !j.indexValid(p):
		if p.in.failJob && !j.failing && !j.succeeding {
			return Untouched // the Job is yet to say that it fails for it (J-096)
		}
		if j.ended(p) || j.succeeding || j.Deleted != 0 {
			return Released
		}
		return Untouched
	case j.accounted(p):
		return Released
	case j.succeeding && p.Phase != events.PodSucceeded && !p.FailedBeforeDeletion && !p.noted: // J-142: what ended before counts (J-140)
		return Released
	case p.NeverCounted:
		return Released
	case j.index.held[p.Index] == p:
		return Holding
	case p.Ignored(): // which a pod is only when it has failed, or its Job fails
		return Released // J-091: nothing is recorded of it
	case j.ended(p):
		return Unlisted
	case j.Deleted != 0:
		return Released
	}
	return Untouched
}

// failsJob reports whether the pod's failure fails the Job: a FailJob rule matches it, and it is one that is to be counted, or that a
// status write accounts for. A pod that was removed uncounted is neither: its exit code is that of our own request to stop. That
// its finalizer is gone says as much when the log that knew why is lost (J-133).
func (j *Job) failsJob(p *Pod) bool {
	if p.match.Action != FailJob || p.Surplus || p.NeverCounted {
		return false
	}
	_, listed := j.uncounted[p.UID]
	return listed || p.written || p.Held()
}

// enter adds the pod's share to the tallies and puts it into the queue of its stage.
func (j *Job) enter(p *Pod) {
	was := p.in
	p.in = share{index: events.NoIndex}
	claimed := j.claimed(p)
	j.enterClaim(p, claimed)
	p.match = Match{}
	if claimed && p.Phase != events.PodSucceeded && (p.Phase == events.PodFailed || j.failing) {
		p.match = j.policies.Match(&p.PodSeen, j.PerIndex)
	}
	p.in.failJob = j.failsJob(p)
	p.in.fatal = p.match.Action == FailJob
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
	if p.Leaving() {
		j.podMayCome(p.LateCreate)
	}
	p.in.going = p.in.active && p.in.removing
	dropped := p.Drop() != nil && !p.Surplus && !j.accounted(p)
	p.in.neverCounted = claimed && (p.NeverCounted || dropped) && p.Held()
	_, uncounted := j.uncounted[p.UID]
	p.in.countable = uncounted && j.Countable(p.UID)
	j.enterStage(p, j.stageOf(p))
	if p.stage == Unlisted {
		p.in.freshSucceeded = p.Phase == events.PodSucceeded
		p.in.freshFailed = !p.in.freshSucceeded
		// One that a write accounts for may have no valid index any more.
		p.in.completing, p.in.completes = p.in.freshSucceeded && j.indexValid(p), p.Index
		p.in.urgent = p.Deleted != 0
	}
	p.in.heldCounted = p.stage == Holding && !p.Ignored()
	// One that is held back was fresh before, and one that is ignored delays others, too (J-105).
	ignored := p.Held() && p.Ignored() && !p.Surplus && j.indexValid(p)
	switch {
	case p.stage == Unlisted || ignored:
		j.note(p)
	case p.noted && !j.indexValid(p) && !j.accounted(p):
		j.unnote(p)
	}
	j.count(p, 1)
	j.hold(p, 1)
	if j.Indexed {
		if was.completing && !(p.in.completing && p.in.completes == was.completes) {
			j.uncomplete(was.completes)
		}
		if p.in.completing {
			j.complete(p.in.completes)
		}
	}
	if j.PerIndex {
		j.enterIndex(p)
		j.reviewIndex(p.Index)
	}
}

// leave takes back what enter added, before the pod changes.
func (j *Job) leave(p *Pod) {
	j.count(p, -1)
	j.hold(p, -1)
	j.leaveClaim(p)
	j.leaveIndex(p)
}

// update changes a pod and keeps the tallies true.
func (j *Job) update(p *Pod, change func()) {
	j.leave(p)
	change()
	j.enter(p)
}

// recount builds every tally again, after a change that concerns all pods: another spec, another published status that
// was not of our writing, a deletion, a finish. It costs what there are pods.
func (j *Job) recount() {
	all := j.Pods()
	j.pods.reset()
	j.published.relist()
	j.resetIndexes()
	j.index.restless = true // until all pods are in
	for p := range j.holding.all {
		j.index.held[p.Index] = p // as before, unless it turns out otherwise
	}
	for uid := range j.uncounted {
		if j.byUID[uid] == nil {
			j.tally.Countable++
		}
	}
	if j.finished {
		j.cancelDeletes()
	}
	for _, p := range all {
		j.enter(p)
	}
	j.index.restless = false
	for _, i := range j.index.indexes() {
		j.settleIndex(i)
	}
}

// resetIndexes begins with the indexes that are published, and those that are being created. Of a Job without a limit per index the
// field of failed indexes says nothing (J-040).
func (j *Job) resetIndexes() {
	var completed, failed *indexset.Set = &indexset.Set{}, &indexset.Set{}
	if j.Indexed {
		completed = &j.Base.Completed
	}
	if j.PerIndex {
		failed = &j.Base.FailedIndexes
	}
	j.indexes.reset(completed, failed, j.Completions, j.policies)
	if j.Indexed {
		for _, c := range j.creates {
			j.occupy(c.Index, 1)
		}
	}
}

// uncomplete notes that an unlisted pod no longer completes that index, unless another one does, or the published status has it by now.
func (j *Job) uncomplete(i int32) {
	if j.Base.Completed.Has(i) {
		return
	}
	for p := range j.Unlisted() {
		if p.in.completing && p.in.completes == i {
			return
		}
	}
	j.reopen(i)
}

// Countable reports whether the uncounted UID's pod no longer carries the finalizer, so that it can be counted (J-087).
func (j *Job) Countable(uid types.UID) bool {
	p := j.byUID[uid]
	return p == nil || !p.Held()
}

// Ignored reports whether a rule says that the pod's failure does not count (J-114).
func (p *Pod) Ignored() bool { return p.match.Action == Ignore }

// FailsJob reports whether the pod's failure fails the Job (J-131, J-133).
func (p *Pod) FailsJob() bool { return p.in.failJob }
