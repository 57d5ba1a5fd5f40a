package projector

import (
	"slices"

	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// indexes tracks the completion indexes of an Indexed Job: which are complete, and which pods each index has. It is not
// stored; recount rebuilds it from the published status, the pods and the creates.
type indexes struct {
	completed indexset.Set // succeeded indexes in range: published, or of an ended pod that no status counts yet
	taken     indexset.Set // indexes that need no pod: completed, failed, or with an occupant
	occupants map[int32]occupants
	// Indexes with too many occupants: more than one, or any if the index is complete or failed
	crowded  map[int32]struct{}
	index    perIndex
	rules    []policy.SuccessRule // rules of the successPolicy
	progress []int32              // per rule: how many of its indexes have succeeded
}

// occupants are the running pods and the unfinished creates of one index.
type occupants struct {
	n    int32 // pods and creates
	pods *Pod  // first of a list linked by Pod.beside
}

func newIndexes() indexes {
	return indexes{occupants: map[int32]occupants{}, crowded: map[int32]struct{}{}, index: newPerIndex()}
}

// complete marks index i as succeeded. Either the published status says so, or an ended pod does that no status counts
// yet.
func (x *indexes) complete(i int32) {
	if x.completed.Add(i) {
		x.follow(i, 1)
	}
	x.taken.Add(i)
	if x.occupants[i].n > 0 {
		x.crowded[i] = struct{}{}
	}
}

// reopen marks index i as not succeeded; it reverts complete.
func (x *indexes) reopen(i int32) {
	if x.completed.Remove(i) {
		x.follow(i, -1)
	}
	x.occupy(i, 0)
}

// follow updates the progress of the successPolicy's rules that require index i. by is 1 if the index succeeded, -1 if
// that was reverted.
func (x *indexes) follow(i, by int32) {
	for k := range x.rules {
		if x.rules[k].Required.Has(i) {
			x.progress[k] += by
		}
	}
}

// Occupants returns the pods of an index in order of arrival. The cost depends on the length of the result.
func (x *indexes) Occupants(i int32) []*Pod {
	var out []*Pod
	for p := x.occupants[i].pods; p != nil; p = p.beside {
		out = append(out, p)
	}
	slices.SortFunc(out, ByArrival)
	return out
}

// hold adds a pod to the occupants of its index, or removes it if sign is negative.
func (x *indexes) hold(p *Pod, sign int32) {
	i := p.in.index
	if i < 0 {
		return
	}
	o := x.occupants[i]
	if sign > 0 {
		p.beside, o.pods = o.pods, p
	} else {
		for at := &o.pods; *at != nil; at = &(*at).beside {
			if *at == p {
				*at = p.beside
				break
			}
		}
		p.beside = nil
	}
	x.occupants[i] = o
	x.occupy(i, sign)
}

// occupy adds sign to the number of occupants of index i (pods and creates). A negative i, which means no index, is
// ignored.
func (x *indexes) occupy(i, sign int32) {
	if i < 0 {
		return
	}
	o := x.occupants[i]
	o.n += sign
	if o.n == 0 {
		delete(x.occupants, i)
	} else {
		x.occupants[i] = o
	}
	if o.n > 1 || (o.n > 0 && (x.completed.Has(i) || x.index.failed.Has(i))) {
		x.crowded[i] = struct{}{}
	} else {
		delete(x.crowded, i)
	}
	x.retake(i)
}

// retake recomputes whether index i needs a pod.
func (x *indexes) retake(i int32) {
	if x.occupants[i].n > 0 || x.completed.Has(i) || x.index.failed.Has(i) {
		x.taken.Add(i)
	} else {
		x.taken.Remove(i)
	}
}

// SuccessRuleMet returns the first rule of the successPolicy that is met (J-139).
func (x *indexes) SuccessRuleMet() (rule int, met bool) {
	if x.completed.Len() == 0 {
		return 0, false
	}
	for k := range x.rules {
		r := &x.rules[k]
		switch {
		case !r.Some:
			met = r.Count > 0 && x.completed.Len() >= r.Count
		case r.Required.Len() == 0: // no index of the rule is in range, or the rule is unreadable: not met
		case x.progress[k] == r.Required.Len():
			met = true
		default:
			met = r.Count > 0 && x.progress[k] >= r.Count
		}
		if met {
			return k, true
		}
	}
	return 0, false
}

// Completed returns the set of succeeded indexes in range. The caller must not change it.
func (x *indexes) Completed() *indexset.Set { return &x.completed }

// FreeIndexes returns the lowest indexes that need a pod, at most n.
func (j *Job) FreeIndexes(n int) []int32 { return j.taken.Gaps(nil, j.Completions, n) }

// Awaits reports whether index i still needs the pod that is being created for it: the index is in range, has neither
// completed nor failed, and has no other pod.
func (j *Job) Awaits(i int32) bool {
	_, crowded := j.crowded[i]
	return i >= 0 && i < j.Completions && !crowded
}

// Crowded returns, ascending, the indexes with more than one occupant (pod or create), or with an occupant that they do
// not need.
func (x *indexes) Crowded() []int32 {
	out := make([]int32, 0, len(x.crowded))
	for i := range x.crowded {
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}
