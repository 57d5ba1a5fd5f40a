package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// perIndex is what a Job with a backoffLimit per index keeps of its indexes (J-116 to J-126).
type perIndex struct {
	failed   indexset.Set     // failed indexes in range: the published ones, and those found since
	fallen   map[int32][]*Pod // pods that failed and are not accounted for, by index
	held     map[int32]*Pod   // of those, the one that is held back until its replacement is seen (J-118)
	active   map[int32]int32  // active pods, by index
	restless bool             // the fate of an index is being decided
}

// FailedIndexes is the set of failed indexes in range, published or not. It must not be changed.
func (j *Job) FailedIndexes() *indexset.Set { return &j.index.failed }

// Held is the failed pod of an index that is held back: its replacement takes over its counts (J-119). nil for none.
func (j *Job) Held(index int32) *Pod { return j.index.held[index] }

// HeldAll yields the pods that are held back, in the order in which they were.
func (j *Job) HeldAll() func(yield func(*Pod) bool) { return j.holding.all }

// Ended is when the pod was found to have ended (J-110); 0 while it has not.
func (p *Pod) Ended() events.Time { return p.ended }

// exhausted reports whether the pod's failure is the end of its index (J-116).
func (j *Job) exhausted(p *Pod) bool {
	if j.failing && !p.endedBefore(j.verdict) {
		return false
	}
	return p.match.Action == policy.FailIndex ||
		(p.match.Action != policy.Ignore && int64(p.IndexFailures) >= int64(*j.Spec.BackoffLimitPerIndex))
}

// endedBefore reports whether the pod had failed by itself when it was decided, at the given second, that the Job
// fails. The write that says so publishes every index that was known to have failed, and only then are pods deleted; so
// of what is found later only such a pod fails its index. Its own times say it, after the log is lost too.
func (p *Pod) endedBefore(verdict events.Time) bool {
	return p.FailedBeforeDeletion && p.Finished.Second() <= verdict
}

// file adds the pod to those of its index that run or failed, or takes it out again when sign is negative.
func (x *perIndex) file(p *Pod, sign int32) {
	i := p.Index
	if p.in.running {
		if x.active[i] += sign; x.active[i] == 0 {
			delete(x.active, i)
		}
	}
	switch {
	case !p.in.fallen:
	case sign > 0:
		x.fallen[i] = append(x.fallen[i], p)
	default:
		kept := slices.DeleteFunc(x.fallen[i], func(q *Pod) bool { return q == p })
		if len(kept) == 0 {
			delete(x.fallen, i)
		} else {
			x.fallen[i] = kept
		}
	}
}

// judgeIndex decides whether an index has failed: when it is published as such, or a pod that fell exhausts its limit;
// never when it has completed (J-126). One that was found failed is no longer when its pod vanishes before anything
// says so (J-036).
func (j *Job) judgeIndex(i int32) {
	if i < 0 || i >= j.Completions {
		return
	}
	failed := !j.completed.Has(i) && (j.Base.FailedIndexes.Has(i) || slices.ContainsFunc(j.index.fallen[i], j.exhausted))
	switch {
	case failed == j.index.failed.Has(i):
		return
	case failed:
		j.index.failed.Add(i)
	default:
		j.index.failed.Remove(i)
	}
	j.occupy(i, 0)
}

// reviewIndex judges an index and settles it, after a pod of it has changed or gone.
func (j *Job) reviewIndex(i int32) {
	if j.PerIndex {
		j.judgeIndex(i)
		j.settleIndex(i)
	}
}

// settleIndex decides which pod of an index is held back: of those that fell the one with the most failures, then the
// latest; none once another pod of the index runs, the index has completed or failed, or the Job ends or is deleted
// (J-118).
func (j *Job) settleIndex(i int32) {
	if j.index.restless {
		return
	}
	var choice *Pod
	if j.index.active[i] == 0 && !j.completed.Has(i) && !j.index.failed.Has(i) && j.Deleted == 0 && !j.failing && !j.succeeding {
		for _, p := range j.index.fallen[i] {
			if choice == nil || p.outranks(choice) {
				choice = p
			}
		}
	}
	was := j.index.held[i]
	if choice == was {
		return
	}
	if choice == nil {
		delete(j.index.held, i)
	} else {
		j.index.held[i] = choice
	}
	j.index.restless = true
	for _, p := range []*Pod{was, choice} {
		if p != nil && j.byUID[p.UID] == p {
			j.update(p, func() {})
		}
	}
	j.index.restless = false
}

// outranks orders the failed pods of an index by how much of its history they carry.
func (p *Pod) outranks(q *Pod) bool {
	a, b := p.IndexFailures+p.IndexIgnoredFailures, q.IndexFailures+q.IndexIgnoredFailures
	if a != b {
		return a > b
	}
	if p.Finished != q.Finished {
		return p.Finished > q.Finished
	}
	return p.UID > q.UID
}

// NewlyFailed are the failed indexes that the published status does not have.
func (j *Job) NewlyFailed() indexset.Set {
	out := j.index.failed.Clone()
	for i := range j.Base.FailedIndexes.All {
		out.Remove(i)
	}
	return out
}
