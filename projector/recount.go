package projector

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// recount rebuilds all counts of the Job after a change that concerns all pods: a new spec, a status that we did not
// write, a deletion, a finish. The cost depends on the number of pods.
func (j *Job) recount() {
	all := j.Pods()
	j.pods.reset()
	j.published.relist()
	j.resetIndexes()
	j.index.restless = true // until all pods are in their sets, choose none to hold back for a replacement
	for p := range j.holding.all {
		j.index.held[p.Index] = p // the pod held back for a replacement stays, unless settleIndex chooses another
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

// resetIndexes sets the completed and failed indexes to those of the published status, and their occupants to those of
// the creates. Without backoffLimitPerIndex the status field failedIndexes is ignored (J-040).
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

// cancelDeletes drops refused deletions (in backoff) after another client wrote that the Job has finished: no pod of a
// finished Job is deleted (J-082).
func (j *Job) cancelDeletes() {
	if j.book.Count(events.SlotDelete) == 0 {
		return
	}
	for _, f := range j.book.InOrder() {
		if f.Command.Traits().Slot == events.SlotDelete && f.InBackoff() {
			if p := j.podOf(f); p != nil {
				p.touched = true
			}
			j.book.Land(f)
		}
	}
}

// reset clears the counts and sets. The pods stay, also in their queues.
func (s *pods) reset() {
	s.tally = Tally{}
	clear(s.misplaced)
	clear(s.fatal)
	clear(s.unremoved)
}

// relist rebuilds uncounted from status.uncountedTerminatedPods in Base.
func (b *published) relist() {
	b.uncounted = map[types.UID]bool{}
	for _, uid := range b.Base.UncountedSucceeded {
		b.uncounted[uid] = false
	}
	for _, uid := range b.Base.UncountedFailed {
		b.uncounted[uid] = true
	}
}

// reset sets the completed and failed indexes to those given, and removes all occupants. failed is only for a Job with
// a limit per index.
func (x *indexes) reset(completed, failed *indexset.Set, completions int32, policies *policy.Policies) {
	clear(x.occupants)
	clear(x.crowded)
	*x = indexes{occupants: x.occupants, crowded: x.crowded, index: newPerIndex()}
	x.completed, x.index.failed = completed.Clone(), failed.Clone()
	x.completed.Trim(completions)
	x.index.failed.Trim(completions)
	x.taken = x.completed.Clone()
	x.taken.AddAll(&x.index.failed)
	if policies == nil || len(policies.Success) == 0 {
		return
	}
	x.rules, x.progress = policies.Success, make([]int32, len(policies.Success))
	for i := range x.completed.All {
		x.follow(i, 1)
	}
}

func newPerIndex() perIndex {
	return perIndex{fallen: map[int32][]*Pod{}, held: map[int32]*Pod{}, active: map[int32]int32{}}
}

// indexes returns, ascending, the indexes that have a failed pod, or one that is held back for a replacement.
func (x *perIndex) indexes() []int32 {
	out := slices.AppendSeq(slices.Collect(maps.Keys(x.fallen)), maps.Keys(x.held))
	slices.Sort(out)
	return slices.Compact(out)
}

// refresh updates the counts for the pod with that UID, which has joined (by = 1) or left (by = -1)
// status.uncountedTerminatedPods.
func (j *Job) refresh(uid types.UID, by int) {
	if p := j.byUID[uid]; p != nil {
		j.update(p, func() {})
		return
	}
	j.tally.Countable += by
}
