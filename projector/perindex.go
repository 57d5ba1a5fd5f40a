package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// perIndex is the state of the indexes of a Job with a backoffLimit per index (J-116 to J-126).
type perIndex struct {
	failed   indexset.Set     // failed indexes in range: published as failed, or failed by a pod since
	fallen   map[int32][]*Pod // failed pods that no status accounts for, by index
	held     map[int32]*Pod   // by index: failed pod that keeps its finalizer until a replacement is seen (J-118)
	active   map[int32]int32  // number of active pods, by index
	restless bool             // true while indexes are being rebuilt: do not choose pods for held yet
}

// FailedIndexes returns the set of failed indexes in range, published or not. The caller must not change it.
func (j *Job) FailedIndexes() *indexset.Set { return &j.index.failed }

// Held returns the failed pod of an index whose finalizer is kept until its replacement is seen: the replacement takes
// over the pod's failure counts (J-119). It returns nil if there is none.
func (j *Job) Held(index int32) *Pod { return j.index.held[index] }

// HeldAll yields the failed pods that keep their finalizer until their replacement is seen, oldest wait first.
func (j *Job) HeldAll() func(yield func(*Pod) bool) { return j.holding.all }

// Ended returns the time at which the pod ended, as used for the backoff (J-110); 0 if it has not ended.
func (p *Pod) Ended() events.Time { return p.ended }

// exhausted reports whether the pod's failure fails its index: a FailIndex rule matches it, or, unless it is ignored,
// the index now has more failures than backoffLimitPerIndex (J-116). After the Job's own failure was decided, only a
// pod that ended before that counts.
func (j *Job) exhausted(p *Pod) bool {
	if j.failing && !p.endedBefore(j.verdict) {
		return false
	}
	return p.match.Action == policy.FailIndex ||
		(p.match.Action != policy.Ignore && int64(p.IndexFailures) >= int64(*j.Spec.BackoffLimitPerIndex))
}

// endedBefore reports whether the pod had failed by itself before the Job's verdict: the time of the condition
// FailureTarget, in seconds. The write of the verdict publishes every failed index known by then, and pods are deleted
// only afterwards. So a failed pod that is seen later fails its index only if it ended before the verdict. The pod's
// own times show that, even if the log was lost.
func (p *Pod) endedBefore(verdict events.Time) bool {
	return p.FailedBeforeDeletion && p.Finished.Second() <= verdict
}

// file adds the pod to the running or failed pods of its index, or removes it if sign is -1.
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

// judgeIndex recomputes whether index i has failed: it is published as failed, or a failed pod exhausts its limit. A
// completed index never fails (J-126). An index stops being failed if its pod vanishes before the failure is published
// (J-036).
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

// reviewIndex recomputes, after a pod of index i has changed or gone, whether the index has failed and which of its
// failed pods keeps its finalizer until a replacement is seen.
func (j *Job) reviewIndex(i int32) {
	if j.PerIndex {
		j.judgeIndex(i)
		j.settleIndex(i)
	}
}

// settleIndex chooses which failed pod of index i keeps its finalizer until a replacement is seen ("held back"): the
// one with the most failures, then the latest. It chooses none if another pod of the index runs, if the index has
// completed or failed, or if the Job ends or is deleted (J-118).
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

// outranks reports whether p rather than q is held back for a replacement: the pod with more failures, then the one
// that finished later.
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

// NewlyFailed returns the failed indexes that the published status does not have.
func (j *Job) NewlyFailed() indexset.Set {
	out := j.index.failed.Clone()
	for i := range j.Base.FailedIndexes.All {
		out.Remove(i)
	}
	return out
}
