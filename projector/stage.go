package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Stage says how far the accounting of a pod has come (design §6). A pod that is to be counted goes
//
//	Untouched → Unlisted ─────→ Released ──────→ Dropping ──→ Untouched
//	 (running)  (ended,       (accounted for in  (the removal   (its finalizer
//	            tracked)       the confirmed      of its finalizer  is gone)
//	                           status)            is in flight)
//
// One that is not to be counted skips Unlisted. One that is surplus goes Untouched → Surplus → Untouched, twice: for
// its finalizer and for its deletion.
type Stage uint8

// The stages.
const (
	Untouched Stage = iota
	Unlisted        // ended and tracked; no confirmed status accounts for it yet
	Released        // its finalizer may go
	Dropping        // the removal of its finalizer is in flight
	Surplus         // surplus, and the next step of its removal can be taken
	Holding         // failed, and held back until the replacement for its index is seen (J-118)
	Orphaned        // it has no owner, and the Job is to adopt it (J-175)
	Disowned        // the Job owns it and no longer selects it: it is to be released (J-174)
	Stopping        // it is being deleted, and may still end by itself (J-022)
)

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
		if j.ended(p) || j.mayEnd(p) && !j.FailedOnly || j.succeeding || j.Deleted != 0 {
			return Released // nothing is counted of it, however it ends
		}
		return Untouched
	case j.accounted(p):
		return Released
	case j.succeeding && p.Phase != events.PodSucceeded && !p.FailedBeforeDeletion && !p.noted && !j.stopped(p):
		return Released // J-142: what ended, or was deleted by somebody, before that counts (J-140)
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
	case p.Deleted != 0 && !j.FailedOnly: // it has not ended
		return Stopping
	}
	return Untouched
}

// removes reports whether the removal of a surplus pod goes on, or is yet to begin. It goes on when the Job is gone,
// but not of a pod that has no owner then: whoever deleted the Job wants to keep it.
func (j *Job) removes(p *Pod) bool { return p.Surplus && !p.removed() && !j.kept(p) }

// removed reports whether nothing is left to do for a surplus pod, which has ended and carries no finalizer of ours: it
// stays, with its logs, and is adopted and released like any pod that was cancelled.
func (p *Pod) removed() bool { return p.Drop() == nil && p.Delete() == nil && !p.Held() && !p.Active() }

// kept reports whether the pod was orphaned when its Job was deleted.
func (j *Job) kept(p *Pod) bool { return j.Gone && p.Owner == "" }

// adopts reports whether the Job is to adopt the pod: it has no owner, the selector matches, and it is not on its way
// out (J-175, J-178).
func (j *Job) adopts(p *Pod) bool {
	return p.Owner == "" && !p.Foreign && !p.Leaving() && p.Drop() == nil && p.Delete() == nil && j.Eligible() &&
		slices.Contains(p.Candidates, j.Ref.UID)
}

// Eligible reports whether the Job may adopt pods at all: it is ours, goes on and is not being deleted (J-175, J-011).
func (j *Job) Eligible() bool {
	return j.Managed && !j.Gone && j.Deleted == 0 && !j.finished
}

// disowns reports whether the Job is to release the pod: it owns it, and the selector does not match (J-174).
func (j *Job) disowns(p *Pod) bool {
	return string(p.Owner) == j.Stream.ID && !p.Selected && !p.SelectorUnknown && !p.Vanished && p.Drop() == nil && p.Delete() == nil &&
		j.Eligible()
}

// ended reports whether the pod counts as ended, by the matrix of J-023; of a failing Job every pod does (J-038). That
// a pod is being deleted counts once it has been seen for long enough.
func (j *Job) ended(p *Pod) bool {
	return p.Phase.Terminal() || (p.Deleted != 0 && !j.FailedOnly && !j.mayEnd(p)) || j.failing
}

// Ignored reports whether a rule says that the pod's failure does not count (J-114).
func (p *Pod) Ignored() bool { return p.match.Action == policy.Ignore }

// countedElsewhere reports whether the controller that runs the Job has counted the end of a pod, of which the stage
// says that nothing is left to count. Where its status was seen before that end, as the watches of Jobs and of pods are
// not in step, the end is not in the backoff record yet. It is in that controller's.
func (j *Job) countedElsewhere(p *Pod) bool {
	return j.claimed(p) && j.indexValid(p) && j.accounted(p) && j.ended(p)
}

// stopped reports whether the pod was deleted before its Job succeeded, and may have ended by itself since: its end
// counts (J-140).
func (j *Job) stopped(p *Pod) bool { return p.StoppingSince != 0 && !j.FailedOnly }
