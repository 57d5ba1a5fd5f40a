package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/jobstatus"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/podfailure"
)

// checkJobWrite checks a write of the controller to a Job: it calls the check for the kind of write.
func (c *Checker) checkJobWrite(w apiserver.Write, j *job, before, after *batchv1.Job) {
	switch {
	case before == nil && c.cronOf(after) != nil:
		return // the creation of a CronJob's Job is checked by checkRunMade
	case before != nil && w.Verb == "delete" && c.ran[j.uid] && !(c.cfg.DeletesExpired && expired(after)):
		c.checkRunDeleted(w, c.cronOf(before), before, after)
		return
	case c.cfg.DeletesExpired && before != nil && w.Verb == "delete":
		c.checkRemoval(w, j, before, after)
		return
	case before == nil || after == nil || w.Subresource != "status":
		c.report("J-249", w.Version, j, nil, "the controller may only write statuses of Jobs, this is %s", w.Verb)
		return
	case !c.cfg.Manages(before):
		c.report("J-005", w.Version, j, nil, "status of a Job that is somebody else's")
		return
	case apiserver.JobFinished(before):
		c.report("J-008", w.Version, j, nil, "a finished Job was changed")
		return
	}
	c.checkShape(w, j, before, after)
	c.checkVerdict(w, j, before, after)
	finishing := apiserver.JobFinished(after)
	succeeded, failed := c.moveUIDs(w, j, before, after, finishing)
	c.checkCounters(w, j, before, after, succeeded, failed)
	if indexed(after) {
		c.checkIndexes(w, j, before, after)
		c.checkFailedIndexes(w, j, before, after)
	}
	if finishing {
		c.checkFinish(w, j)
	}
}

// checkShape checks three things: the status has the fields that each status has after the controller's first write;
// the change since the status before is allowed; and the conditions that other clients set are unchanged.
func (c *Checker) checkShape(w apiserver.Write, j *job, before, after *batchv1.Job) {
	s := &after.Status
	if s.Ready == nil || s.Terminating == nil || s.UncountedTerminatedPods == nil {
		c.report("J-027, J-028, J-030", w.Version, j, nil, "ready, terminating and uncountedTerminatedPods should be there: %v, %v, %v", s.Ready, s.Terminating, s.UncountedTerminatedPods)
	}
	for _, breach := range jobstatus.Breaches(before, after) {
		c.report(breach.Rule, w.Version, j, nil, "%s", breach.What)
	}
	for _, cond := range before.Status.Conditions {
		if !slices.Contains(ownConditions, cond.Type) && !slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool { return equality.Semantic.DeepEqual(c, cond) }) {
			c.report("J-044", w.Version, j, nil, "condition %s of somebody else is not as it was", cond.Type)
		}
	}
}

// ownConditions are the types of conditions that a Job controller sets.
var ownConditions = []batchv1.JobConditionType{
	batchv1.JobSuspended, batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete, batchv1.JobFailed,
}

// moveUIDs checks and notes which pods' UIDs enter and leave the lists in uncountedTerminatedPods. It returns how many
// UIDs left each list, and so must be in the counter.
func (c *Checker) moveUIDs(w apiserver.Write, j *job, before, after *batchv1.Job, finishing bool) (succeeded, failed int32) {
	old, sent := lists(before), lists(after)
	for _, uid := range old.Succeeded {
		if !slices.Contains(sent.Succeeded, uid) {
			c.leave(w, j, uid, countedSucceeded, finishing)
			succeeded++
		}
	}
	for _, uid := range old.Failed {
		if !slices.Contains(sent.Failed, uid) {
			c.leave(w, j, uid, countedFailed, finishing)
			failed++
		}
	}
	for _, uid := range sent.Succeeded {
		if !slices.Contains(old.Succeeded, uid) {
			c.enter(w, j, after, uid, inSucceeded)
		}
	}
	for _, uid := range sent.Failed {
		if !slices.Contains(old.Failed, uid) {
			c.enter(w, j, after, uid, inFailed)
			c.checkWaited(w, j, before, uid)
		}
	}
	return succeeded, failed
}

func lists(j *batchv1.Job) batchv1.UncountedTerminatedPods {
	if j.Status.UncountedTerminatedPods == nil {
		return batchv1.UncountedTerminatedPods{}
	}
	return *j.Status.UncountedTerminatedPods
}

// leave checks a UID that left its list in uncountedTerminatedPods. The pod must not have the finalizer any more,
// otherwise it could be counted again (J-085, J-087).
func (c *Checker) leave(w apiserver.Write, j *job, uid types.UID, to entry, finishing bool) {
	p := c.pods[uid]
	if p == nil {
		return // another client has put the UID into the list, so it may be of a pod that the checker does not know
	}
	if p.tracked && p.owned(j) && !p.relabelled && !finishing {
		c.report("J-085", w.Version, j, p, "it moved to the counters while the pod still carries the finalizer")
	}
	p.account(j, to)
}

// enter checks a UID that entered a list in uncountedTerminatedPods. It must not have been in a list before, and its
// pod must belong to the Job and have ended as the list says (J-031, J-034, J-085).
func (c *Checker) enter(w apiserver.Write, j *job, after *batchv1.Job, uid types.UID, to entry) {
	p := c.pods[uid]
	switch {
	case p == nil || j.pods[uid] == nil:
		c.report("J-031", w.Version, j, p, "UID %s in an uncounted list is of no pod of the Job", uid)
		return
	case p.accounted(j) != unaccounted:
		c.report("J-031, J-088", w.Version, j, p, "it was accounted for before, and is now again in an uncounted list")
	case p.droppedBy == c.cfg.Actor:
		c.report("J-031", w.Version, j, p, "it enters an uncounted list after the controller dropped its finalizer")
	case to == inSucceeded && (p.now.Status.Phase != corev1.PodSucceeded || indexed(after)):
		c.report("J-085", w.Version, j, p, "phase %s entered the list of succeeded pods", p.now.Status.Phase)
	case to == inFailed && !p.failedBy(after):
		c.report("J-022, J-038", w.Version, j, p, "phase %s entered the list of failed pods", p.now.Status.Phase)
	case to == inFailed && podfailure.Judge(after, p.now).Action == batchv1.PodFailurePolicyActionFailJob && !isTrue(after, batchv1.JobFailureTarget) && !isTrue(after, batchv1.JobSuccessCriteriaMet):
		c.report("J-096, J-131", w.Version, j, p, "a pod whose failure fails the Job entered the list, and the Job goes on")
	case to == inFailed && podfailure.Ignored(after, p.now) && !isTrue(after, batchv1.JobFailureTarget):
		c.report("J-114", w.Version, j, p, "a pod whose failure is ignored entered the list of failed pods")
	case to == inFailed && isTrue(after, batchv1.JobSuccessCriteriaMet) && p.deletedBy == c.cfg.Actor && !p.failedBeforeDeletion():
		c.report("J-142", w.Version, j, p, "a pod deleted because the Job succeeded is counted as failed")
	}
	if all, _ := p.indexes(after); len(all) == 0 {
		c.report("J-035", w.Version, j, p, "a pod without a valid index is to be counted")
	}
	p.account(j, to)
}

// checkWaited checks that a pod deleted by another client had time to end before it is listed as failed (J-022), unless
// its Job fails or is being deleted.
func (c *Checker) checkWaited(w apiserver.Write, j *job, before *batchv1.Job, uid types.UID) {
	p := c.pods[uid]
	if p == nil || p.now.Status.Phase == corev1.PodFailed || isTrue(before, batchv1.JobFailureTarget) || before.DeletionTimestamp != nil {
		return
	}
	if waited := w.Time.Sub(p.deletedAt); p.deletedBy != "" && p.deletedBy != c.cfg.Actor && waited < c.cfg.DeletedPodWait {
		c.report("J-022", w.Version, j, p, "it is listed as failed %s after its deletion was asked for, and it has not ended", waited)
	}
}

// failedBy reports whether the Job's status may count the pod as failed (J-022, J-023, J-038).
func (p *pod) failedBy(after *batchv1.Job) bool {
	return p.now.Status.Phase == corev1.PodFailed ||
		p.deletedBy != "" && !failedOnly(after) ||
		isTrue(after, batchv1.JobFailureTarget)
}

// failedBeforeDeletion reports whether the pod had failed before its deletion was requested.
func (p *pod) failedBeforeDeletion() bool {
	for _, v := range p.versions {
		if v.DeletionTimestamp != nil {
			return false
		}
		if v.Status.Phase == corev1.PodFailed {
			return true
		}
	}
	return false
}

// checkCounters checks that the counters grew by the number of UIDs that left the lists. The write that finishes the
// Job must also count the pods that were in no list.
func (c *Checker) checkCounters(w apiserver.Write, j *job, before, after *batchv1.Job, succeeded, failed int32) {
	least, most := bounds{}, bounds{}
	if apiserver.JobFinished(after) {
		least, most = c.toCount(j, after)
	}
	moved := after.Status.Failed - before.Status.Failed - failed
	if moved < least.failed || moved > most.failed {
		c.report("J-085, each pod is counted once", w.Version, j, nil,
			"failed moved by %d beyond the %d pods that left the list, should be %d to %d", moved, failed, least.failed, most.failed)
	}
	if indexed(after) {
		return
	}
	moved = after.Status.Succeeded - before.Status.Succeeded - succeeded
	if moved < least.succeeded || moved > most.succeeded {
		c.report("J-085, each pod is counted once", w.Version, j, nil,
			"succeeded moved by %d beyond the %d pods that left the list, should be %d to %d", moved, succeeded, least.succeeded, most.succeeded)
	}
}

// bounds are numbers of pods that the write that finishes a Job counts directly, without listing their UIDs first.
type bounds struct{ succeeded, failed int32 }

// toCount is called for the write that finishes a Job: it finds the pods for which no stored status accounts yet. The
// write must count at least as many as least says, and at most as many as most says. After the call these pods are
// accounted for.
func (c *Checker) toCount(j *job, after *batchv1.Job) (least, most bounds) {
	for _, p := range j.sortedPods() {
		if p.accounted(j) != unaccounted || p.droppedBy == c.cfg.Actor || p.job != j {
			continue
		}
		all, sure := p.indexes(after)
		if len(all) == 0 {
			continue
		}
		must := sure && p.tracked && p.owned(j) && !p.relabelled && !p.late && !p.dropTried && apiserver.PodTerminal(p.now)
		failing := isTrue(after, batchv1.JobFailureTarget) && (p.tracked || p.droppedBy != "")
		if !must && !p.ended && !failing {
			continue
		}
		failed := p.now.Status.Phase == corev1.PodFailed
		// Pods that any client deleted after the Job's success are not counted as failed, unless they had failed
		// before.
		deleted := isTrue(after, batchv1.JobSuccessCriteriaMet) && p.deletedBy != "" && !p.failedBeforeDeletion()
		if must && failed && !podfailure.Ignored(after, p.now) && !deleted && !c.deletedInAnotherLife(after, p) {
			least.failed++
		}
		if must && p.now.Status.Phase == corev1.PodSucceeded && p.deletedBy == "" {
			least.succeeded++
		}
		if p.now.Status.Phase == corev1.PodSucceeded {
			most.succeeded++
		}
		if (failed || p.failedBy(after)) && !c.deletedForSuccess(after, p) && !podfailure.Ignored(after, p.now) {
			most.failed++
		}
		p.account(j, countedInTheEnd)
	}
	return least, most
}

// deletedForSuccess reports whether the pod was deleted because the Job succeeded; it is not counted as failed (J-142).
func (c *Checker) deletedForSuccess(after *batchv1.Job, p *pod) bool {
	return isTrue(after, batchv1.JobSuccessCriteriaMet) && p.deletedBy == c.cfg.Actor && !p.failedBeforeDeletion()
}

// deletedInAnotherLife reports whether the controller deleted the pod after success, and has since lost the log that
// says whether the pod had failed before. Such a pod may be counted as failed or not.
func (c *Checker) deletedInAnotherLife(after *batchv1.Job, p *pod) bool {
	return c.forgotten && isTrue(after, batchv1.JobSuccessCriteriaMet) && p.deletedBy == c.cfg.Actor
}

// checkIndexes checks that an index enters completedIndexes only if a pod of it succeeded, and that the size of the set
// is status.succeeded (J-039).
func (c *Checker) checkIndexes(w apiserver.Write, j *job, before, after *batchv1.Job) {
	completions := *after.Spec.Completions
	sent, err := apiserver.IndexSet(after.Status.CompletedIndexes, completions)
	if err != nil {
		c.report("J-233", w.Version, j, nil, "completedIndexes %q: %v", after.Status.CompletedIndexes, err)
		return
	}
	// If succeeded may not go down in this state (J-236), it may exceed the number of completed indexes.
	held := j.resized && after.Status.Succeeded == before.Status.Succeeded && *after.Spec.Parallelism != completions
	if n := int(after.Status.Succeeded); n != len(sent) && !(held && n > len(sent)) {
		c.report("J-039", w.Version, j, nil, "succeeded is %d, completedIndexes %q", after.Status.Succeeded, after.Status.CompletedIndexes)
	}
	succeeded := map[int32]bool{}
	for _, p := range j.sortedPods() {
		all, sure := p.indexes(after)
		if len(all) == 0 || p.now.Status.Phase != corev1.PodSucceeded {
			continue
		}
		for _, i := range all {
			succeeded[i] = succeeded[i] || p.ended && !p.surplus
		}
		due := sure && p.tracked && p.owned(j) && !p.relabelled && !p.late && !p.dropTried && p.accounted(j) != inFailed && p.accounted(j) != countedFailed && p.deletedBy == ""
		if apiserver.JobFinished(after) && due && !sent[all[0]] && !failedSet(after)[all[0]] {
			c.report("J-039, no pod is forgotten", w.Version, j, p, "it succeeded, but index %d is not in %q", all[0], after.Status.CompletedIndexes)
		}
	}
	old, _ := apiserver.IndexSet(before.Status.CompletedIndexes, 1<<30)
	for i := range completions {
		if sent[i] && !old[i] && !succeeded[i] {
			c.report("J-039", w.Version, j, nil, "index %d is completed, but no pod of it succeeded", i)
		}
		if old[i] && !sent[i] && !j.resized {
			c.report("J-039", w.Version, j, nil, "index %d is no longer completed", i)
		}
	}
}

// checkFinish checks that a Job finishes only after all its pods have ended and its surplus pods were deleted.
func (c *Checker) checkFinish(w apiserver.Write, j *job) {
	held := 0
	for _, p := range j.sortedPods() {
		if p.tracked && p.owned(j) && !p.relabelled {
			held++
		}
		if p.owned(j) && !p.relabelled && !p.late && !apiserver.PodTerminal(p.now) {
			c.report("J-163, design §6", w.Version, j, p, "the Job is finished while this pod is %s", p.now.Status.Phase)
		}
		// The controller must have deleted each surplus pod, except a pod that has ended: that one stays, because its
		// logs would be lost.
		if p.surplus && !p.deleteSent && !p.gone && !apiserver.PodTerminal(p.now) {
			c.report("J-073", w.Version, j, p, "the finalizer was dropped uncounted, and the pod never deleted")
		}
	}
	if c.cfg.HeldAtEnd > 0 && held > c.cfg.HeldAtEnd {
		c.report("J-085", w.Version, j, nil, "%d pods carry the finalizer when the Job is finished, and %d may", held, c.cfg.HeldAtEnd)
	}
}
