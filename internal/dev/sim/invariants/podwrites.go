package invariants

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/podfailure"
)

// checkPodWrite checks a write of the controller to a Pod: it calls the check for the kind of write.
func (c *Checker) checkPodWrite(w apiserver.Write, p *pod, before, after *corev1.Pod) {
	switch {
	case before == nil:
		c.checkCreate(w, p, after)
	case w.Verb == "delete":
		c.checkDelete(w, p)
	default:
		c.checkPatch(w, p, before, after)
	}
}

// checkCreate checks that a pod is created only for a Job that wants it (J-005, J-008, J-011, J-061, J-062, J-078).
func (c *Checker) checkCreate(w apiserver.Write, p *pod, made *corev1.Pod) {
	j := c.jobs[apiserver.ControllerOf(made)]
	if j == nil {
		c.report("J-062", w.Version, nil, p, "it is controlled by no Job that ever was")
		return
	}
	if intent, ok := c.intent(w); ok && intent.JobSeen != 0 {
		seen := j.at(intent.JobSeen)
		switch {
		case seen == nil:
			c.report("J-046", w.Version, j, p, "decided at version %d, before the Job was", intent.JobSeen)
			return
		case seen.DeletionTimestamp != nil:
			c.report("J-011", w.Version, j, p, "made for a Job that was known to be deleted")
		case apiserver.JobFinished(seen):
			c.report("J-008", w.Version, j, p, "made for a Job that was known to be finished")
		case seen.Spec.Suspend != nil && *seen.Spec.Suspend:
			c.report("J-047", w.Version, j, p, "made for a Job that was known to be suspended")
		}
	}
	if j.finisher == c.cfg.Actor && !p.late {
		c.report("J-009", w.Version, j, p, "made for a Job that the controller has finished")
	}
	if !c.cfg.Manages(j.now) {
		c.report("J-005", w.Version, j, p, "made for a Job that is somebody else's")
	}
	if !hasFinalizer(made) {
		c.report("J-084", w.Version, j, p, "made without the tracking finalizer")
	}
}

// checkDelete checks that pods of a finished Job are not deleted (J-082). An exception is a pod that has ended, if the
// request takes effect after its caller gave up or crashed.
func (c *Checker) checkDelete(w apiserver.Write, p *pod) {
	j := p.job
	if j == nil {
		c.report("J-172", w.Version, nil, p, "the controller deleted a pod that was never a Job's")
		return
	}
	if !c.cfg.Manages(j.now) {
		c.report("J-005", w.Version, j, p, "the controller deleted a pod of somebody else's Job")
	}
	if j.finisher == c.cfg.Actor && !(w.Late && (c.forgotten || apiserver.PodTerminal(p.now))) {
		c.report("J-082", w.Version, j, p, "the controller deleted a pod of a Job that it had finished")
	}
}

// checkPatch checks a patch of a pod. Patches adopt a pod, release it, or remove its finalizer.
func (c *Checker) checkPatch(w apiserver.Write, p *pod, before, after *corev1.Pod) {
	was, is := apiserver.ControllerOf(before), apiserver.ControllerOf(w.Object())
	j := c.jobs[was]
	if j != nil && !j.gone && !c.cfg.Manages(j.now) {
		c.report("J-007", w.Version, j, p, "the controller patched a pod of somebody else's Job")
		return
	}
	dropped := hasFinalizer(before) && (after == nil || !hasFinalizer(after))
	switch {
	case was == is && dropped:
		c.checkDrop(w, p, before)
	case was == "" && is != "":
		c.checkAdoption(w, p, before, after)
	case was != is && is == "" && !j.gone && apiserver.Selects(j.now, before.Labels):
		c.report("J-174", w.Version, j, p, "released although the selector matches its labels")
	case was != is && is == "" && !j.gone && after != nil && hasFinalizer(after):
		c.report("J-174", w.Version, j, p, "released, and it keeps the finalizer")
	case was != is && was != "" && is != "":
		c.report("J-172", w.Version, j, p, "taken from its controller")
	}
}

// checkAdoption checks that a Job adopts only pods that it selects, that have no owner and are not being deleted. The
// adopted pod must get the finalizer, with two exceptions: the Job has already accounted for it, or it lost the
// finalizer after it had ended as a pod of this Job (J-175, J-177, J-178, J-031). The Job itself may be under deletion
// by now: the controller can look only before it adopts (J-176).
func (c *Checker) checkAdoption(w apiserver.Write, p *pod, before, after *corev1.Pod) {
	j := c.jobs[apiserver.ControllerOf(after)]
	if j == nil {
		c.report("J-175", w.Version, nil, p, "adopted by a Job that never was")
		return
	}
	controllers := 0
	for _, o := range after.OwnerReferences {
		if o.Controller != nil && *o.Controller {
			controllers++
		}
	}
	switch spent, known := c.accounted(j, p), j.pods[p.uid] != nil; {
	case !c.cfg.Manages(j.now):
		c.report("J-005", w.Version, j, p, "adopted by a Job that is somebody else's")
	case controllers != 1:
		c.report("J-175", w.Version, j, p, "adopted, and it has %d controllers", controllers)
	case before.DeletionTimestamp != nil:
		c.report("J-178", w.Version, j, p, "adopted while it was being deleted")
	case !apiserver.Selects(j.now, before.Labels):
		c.report("J-175", w.Version, j, p, "adopted although the selector does not match its labels")
	case !spent && !known && !hasFinalizer(after) && !c.notCounted(j, p):
		c.report("J-177", w.Version, j, p, "adopted without the finalizer, so it will not be counted")
	case p.accounted(j) >= countedSucceeded && hasFinalizer(after) && apiserver.PodTerminal(after) && anothers(before, j):
		// Another Job adopted the pod meanwhile and annotated it. So this Job counts the pod once more, which is
		// right (docs/design/0004).
		p.account(j, unaccounted)
	case p.accounted(j) >= countedSucceeded && hasFinalizer(after) && apiserver.PodTerminal(after):
		c.report("J-031", w.Version, j, p, "adopted with the finalizer, so it will be counted twice")
	}
}

// anothers reports whether the pod's annotation about the newest command names another Job than j.
func anothers(p *corev1.Pod, j *job) bool {
	_, uid, _, ok := events.ParseCommand(p.Annotations[events.CommandAnnotation])
	return ok && uid != j.uid
}

// checkDrop checks that the finalizer of a pod that is to be counted is removed only after a stored status accounts for
// it.
func (c *Checker) checkDrop(w apiserver.Write, p *pod, before *corev1.Pod) {
	j := c.jobs[apiserver.ControllerOf(before)]
	if j == nil || j.gone || apiserver.JobFinished(j.now) || j.now.DeletionTimestamp != nil || p.relabelled && !apiserver.Selects(j.now, before.Labels) {
		return // no pod of such a Job needs its finalizer any more (J-100, J-090)
	}
	if c.accounted(j, p) || c.notCounted(j, p) {
		return
	}
	intent, known := c.intent(w)
	switch {
	case known && !intent.Surplus && isTrue(j.now, batchv1.JobSuccessCriteriaMet) && (intent.NeverCounted || running(p.at(intent.PodSeen))):
		// No breach: the controller decided this before the pod ended. Such a pod is not counted, however it ended
		// (J-142).
	case known && !intent.Surplus:
		c.report("design §2, invariant 7, J-085", w.Version, j, p, "the finalizer went before a stored status accounts for the pod (phase %s)", before.Status.Phase)
	case known && intent.PodSeen != 0 && !active(p.at(intent.PodSeen)):
		c.report("J-073", w.Version, j, p, "dropped as surplus although the pod was known to have ended or to be on its way")
	default:
		// The pod was surplus, so the controller must also delete it, unless it forgot its request in a restart.
		// Settled and checkFinish verify the deletion.
		p.surplus = !(w.Late && c.forgotten)
	}
}

// accounted reports whether the Job's stored status accounts for the pod: it was listed or counted, or its index is
// published.
func (c *Checker) accounted(by *job, p *pod) bool {
	if p.accounted(by) != unaccounted {
		return true
	}
	j := by.now
	if !indexed(j) || p.now.Status.Phase != corev1.PodSucceeded {
		return false
	}
	completed, failed := completedSet(j), failedSet(j)
	all, _ := p.indexes(j)
	// A pod that succeeded is accounted for if its index is published as completed or failed: a failed index stays
	// failed, however its pods end (J-117).
	return slices.ContainsFunc(all, func(i int32) bool { return completed[i] || failed[i] })
}

// notCounted reports whether the pod must not be counted (J-035, J-091), or perhaps not because its index was once not
// below spec.completions.
func (c *Checker) notCounted(by *job, p *pod) bool {
	j := by.now
	all, sure := p.indexes(j)
	switch {
	case (!sure || indexed(j) && all[0] >= by.fewest) && (apiserver.PodTerminal(p.now) || p.failedBy(j)):
		return true
	case isTrue(j, batchv1.JobSuccessCriteriaMet) && !p.failedBeforeDeletion() && p.now.Status.Phase != corev1.PodSucceeded:
		return true
	}
	return podfailure.Ignored(j, p.now)
}

func running(p *corev1.Pod) bool { return p != nil && !apiserver.PodTerminal(p) }

func active(p *corev1.Pod) bool {
	return p != nil && !apiserver.PodTerminal(p) && p.DeletionTimestamp == nil
}

// checkRoom checks after a creation that no index has two live pods of the same template, and that the Job has no more
// pods than it wants. If podReplacementPolicy is Failed, a terminating pod still counts for both (J-048, J-052, J-136).
// This is not checked after a change of that policy, because the controller may have decided before the change.
func (c *Checker) checkRoom(w apiserver.Write, made *pod) {
	j := made.job
	if j == nil || made.late || made.again {
		return
	}
	c.checkIndexWants(w, j, made)
	live, done := int32(0), int32(0)
	for _, p := range j.sortedPods() {
		if !p.owned(j) || p.relabelled || p.adopted || p.late || p.again || p.createdBy != c.cfg.Actor {
			continue
		}
		if p.live() || failedOnly(j.now) && !j.replaced && !apiserver.PodTerminal(p.now) {
			live++
			c.checkIndexFree(w, j, made, p)
		} else if p.now.Status.Phase == corev1.PodSucceeded && p.deletedBy == "" && !p.stripped(c.cfg.Actor) && (p.tracked && !p.dropTried || p.accounted(j) == inSucceeded || p.accounted(j) == countedSucceeded) {
			done++
		}
	}
	spec := &j.now.Spec
	if j.rescaled || spec.Parallelism == nil {
		return
	}
	if live > *spec.Parallelism {
		c.report("J-047, J-048", w.Version, j, made, "%d pods hold a slot, parallelism is %d", live, *spec.Parallelism)
	}
	if spec.Completions != nil && !indexed(j.now) && live+done > *spec.Completions {
		c.report("J-047", w.Version, j, made, "%d live and %d succeeded pods, completions are %d", live, done, *spec.Completions)
	}
}

func (c *Checker) checkIndexFree(w apiserver.Write, j *job, made, other *pod) {
	if _, sure := other.indexes(j.now); made == other || !sure || !indexed(j.now) || made.now.Annotations[events.TemplateAnnotation] != other.now.Annotations[events.TemplateAnnotation] {
		return
	}
	i, ok1 := made.index(j.now)
	k, ok2 := other.index(j.now)
	if ok1 && ok2 && i == k {
		c.report("J-052", w.Version, j, made, "index %d is held by another pod, %s", i, other.key)
	}
}

// checkIndexWants checks that a pod is created for an index only if the published status has the index neither as
// completed nor as failed. The pod must also carry the number of failures of earlier pods of the index (J-052, J-117,
// J-119).
func (c *Checker) checkIndexWants(w apiserver.Write, j *job, made *pod) {
	i, ok := made.index(j.now)
	if !ok || !indexed(j.now) {
		return
	}
	most, failed := int32(-1), int32(0)
	for _, p := range j.sortedPods() {
		all, sure := p.indexes(j.now)
		if p == made || !slices.Contains(all, i) {
			continue
		}
		if !sure || p.adopted || p.late || p.again || p.relabelled || p.deletedBy != "" && p.now.Status.Phase == corev1.PodSucceeded {
			// Nothing can be checked: such a pod may end at any time and in any way while the new pod is created.
			return
		}
		down := p.now.Status.Phase == corev1.PodFailed || p.deletedBy != "" && !failedOnly(j.now)
		if down || p.deletedBy != "" && j.replaced {
			failed++
		}
		if _, all := podfailure.Earlier(p.now); down && p.owned(j) && p.tracked && !p.dropTried && p.accounted(j) == unaccounted {
			most = max(most, all)
		}
	}
	if (completedSet(j.now)[i] || failedSet(j.now)[i]) && !j.resized {
		c.report("J-052, J-117", w.Version, j, made, "made for index %d, of completed %q and failed %v", i, j.now.Status.CompletedIndexes, failedSet(j.now))
	}
	if j.now.Spec.BackoffLimitPerIndex == nil {
		return
	}
	if _, all := podfailure.Earlier(made.now); all <= most || all > failed {
		c.report("J-119", w.Version, j, made, "it says that index %d has failed %d times; %d pods of it have failed, the last of them after %d", i, all, failed, most)
	}
}

func (c *Checker) intent(w apiserver.Write) (Intent, bool) {
	if c.cfg.Intent == nil {
		return Intent{}, false
	}
	return c.cfg.Intent(w)
}
