package projector

import (
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/policy"
)

// Stage is how far a pod is on its way into the counters of the status (design §6). A pod that counts goes
//
//	Untouched → Unlisted ─────→ Released ──────→ Dropping ──→ Untouched
//	 (running)  (ended, has     (the confirmed    (finalizer     (finalizer
//	            the finalizer)  status accounts   removal in     gone)
//	                            for it)           flight)
//
// A pod that does not count skips Unlisted. A surplus pod (deleted, and never counted) goes Untouched → Surplus →
// Untouched twice: for the removal of its finalizer, then for its deletion.
type Stage uint8

// The stages of a pod.
const (
	Untouched Stage = iota
	Unlisted        // ended with the finalizer; no confirmed status accounts for it yet
	Released        // counted, or never to be counted: its finalizer can be removed
	Dropping        // its finalizer removal is in flight
	Surplus         // to be deleted, never counted; its finalizer removal or deletion can be issued
	Holding         // failed, and held back until its index's replacement is seen (J-118)
	Orphaned        // without an owner: the Job is to adopt it (J-175)
	Disowned        // owned by the Job but no longer selected: to be released (J-174)
	Stopping        // under deletion, and may still end by itself (J-022)
)

// stageOf returns the pod's stage (how far it is on its way into the status). It returns Released, so that the
// finalizer is removed at once, also for pods that are never counted: pods of a finished or deleted Job (J-100); pods
// that do not end while their Job succeeds or is deleted (J-091); pods without a valid index that have ended, or whose
// Job has (J-035, J-090).
func (j *Job) stageOf(p *Pod) Stage {
	switch {
	case j.Removes(p) && !j.finished:
		if p.Drop() == nil && p.Delete() == nil {
			return Surplus
		}
		return Untouched
	case p.written && !j.accounted(p):
		return Unlisted // the status write in flight lists the pod, and may be stored whatever happens to the pod
	case p.Claim() != nil:
		return Untouched
	case j.adopts(p):
		return Orphaned
	case j.disowns(p):
		return Disowned
	case !p.Held():
		return Untouched
	case p.Drop() != nil:
		return Dropping // even if newer observations would give another stage
	case p.Owner == "" && p.Version <= p.Stale:
		return Untouched // the pod has a newer version that was not seen yet: a command would be refused again
	case j.Stream.Kind == events.StreamNamespace:
		if len(p.Candidates) > 0 {
			return Untouched // Jobs that may adopt the pod are not known yet
		}
		return Released
	case j.Gone || j.finished:
		return Released
	case !j.claimed(p):
		if j.Deleted != 0 || p.Owner == "" {
			return Released // its finalizer would block a foreground deletion of the Job for ever (J-102); and J-100
		}
		return Untouched
	case !j.indexValid(p):
		if p.in.failJob && !j.failing && !j.succeeding {
			return Untouched // before the pod goes, the Job has to fail because of it (J-096)
		}
		if j.ended(p) || j.mayEnd(p) && !j.FailedOnly || j.succeeding || j.Deleted != 0 {
			return Released // never counted, however it ends
		}
		return Untouched
	case j.accounted(p):
		return Released
	case j.succeeding && p.Phase != events.PodSucceeded && !p.FailedBeforeDeletion && !p.noted && !j.stopped(p):
		return Released // J-142. A pod that ended, or was deleted, before its Job succeeded still counts (J-140)
	case p.NeverCounted:
		return Released
	case j.index.held[p.Index] == p:
		return Holding
	case p.Ignored(): // the rule matches only a failed pod, or any pod of a Job that fails
		return Released // J-091: the status records nothing of it
	case j.ended(p):
		return Unlisted
	case j.Deleted != 0:
		return Released
	case p.Deleted != 0 && !j.FailedOnly: // it has not ended yet
		return Stopping
	}
	return Untouched
}

// Removes reports whether the pod is surplus (to be deleted, never counted) and its removal has not ended. The removal
// goes on after the Job is gone, with one exception: the client that deleted the Job chose to keep the pods (orphan
// deletion).
func (j *Job) Removes(p *Pod) bool { return p.Surplus && !p.removed() && !j.kept(p) }

// removed reports whether the removal of a surplus pod (to be deleted, never counted) is over without a deletion: the
// pod has ended by itself and has no finalizer of ours. It stays, with its logs. The Job may adopt and release it.
func (p *Pod) removed() bool { return p.Drop() == nil && p.Delete() == nil && !p.Held() && !p.Active() }

// kept reports whether the Job was deleted and its pods were kept, without an owner (orphan deletion).
func (j *Job) kept(p *Pod) bool { return j.Gone && p.Owner == "" }

// adopts reports whether the Job is to adopt the pod: the pod has no owner, the Job's selector matches it, and it is
// not under deletion (J-175, J-178).
func (j *Job) adopts(p *Pod) bool {
	return p.Owner == "" && !p.Foreign && !p.Leaving() && p.Drop() == nil && p.Delete() == nil && j.Eligible() &&
		slices.Contains(p.Candidates, j.Ref.UID)
}

// Eligible reports whether the Job may adopt and release pods: we run it, it has not finished, and it is not under
// deletion (J-175, J-011).
func (j *Job) Eligible() bool {
	return j.Managed && !j.Gone && j.Deleted == 0 && !j.finished
}

// disowns reports whether the Job is to release the pod: it owns the pod, but the selector does not match (J-174).
func (j *Job) disowns(p *Pod) bool {
	return string(p.Owner) == j.Stream.ID && !p.Selected && !p.SelectorUnknown && !p.Vanished && p.Drop() == nil && p.Delete() == nil &&
		j.Eligible()
}

// ended reports whether the pod counts as ended, by the table of J-023. If the Job fails, every pod counts as ended
// (J-038). A pod under deletion does so once the wait for its own end is over (mayEnd).
func (j *Job) ended(p *Pod) bool {
	return p.Phase.Terminal() || (p.Deleted != 0 && !j.FailedOnly && !j.mayEnd(p)) || j.failing
}

// Ignored reports whether a podFailurePolicy rule says that the pod's failure does not count (J-114).
func (p *Pod) Ignored() bool { return p.match.Action == policy.Ignore }

// countedElsewhere reports whether the status of a Job that another controller runs already accounts for the end of a
// pod. The watches of Jobs and pods are not in step: the status may be seen before the pod's end. Such an end must
// still enter our backoff record, because the other controller's backoff includes it.
func (j *Job) countedElsewhere(p *Pod) bool {
	return j.claimed(p) && j.indexValid(p) && j.accounted(p) && j.ended(p)
}

// stopped reports whether the pod was deleted before its Job succeeded and could still end by itself then. Its end
// counts (J-140).
func (j *Job) stopped(p *Pod) bool { return p.StoppingSince != 0 && !j.FailedOnly }
