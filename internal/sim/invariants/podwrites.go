package invariants

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/sim/apiserver"
)

// checkPodWrite judges a write of the controller to a Pod.
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

// checkCreate: a pod is made for a Job that wants it (J-005, J-008, J-011, J-061, J-062, J-078).
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

// checkDelete: pods of a finished Job are left alone (J-082).
func (c *Checker) checkDelete(w apiserver.Write, p *pod) {
	j := p.job
	if j == nil {
		c.report("J-172", w.Version, nil, p, "the controller deleted a pod that was never a Job's")
		return
	}
	if !c.cfg.Manages(j.now) {
		c.report("J-005", w.Version, j, p, "the controller deleted a pod of somebody else's Job")
	}
	if j.finisher == c.cfg.Actor && !(w.Late && c.forgotten) {
		c.report("J-082", w.Version, j, p, "the controller deleted a pod of a Job that it had finished")
	}
}

// checkPatch: a patch adopts, releases or drops the finalizer.
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
	case was != is && is == "" && !p.relabelled && !j.gone && apiserver.Selects(j.now, before.Labels):
		c.report("J-174", w.Version, j, p, "released although the selector matches its labels")
	case was != is && was != "" && is != "":
		c.report("J-172", w.Version, j, p, "taken from its controller")
	}
}

// checkDrop: the finalizer of a pod that is to be counted goes only when a stored status accounts for it.
func (c *Checker) checkDrop(w apiserver.Write, p *pod, before *corev1.Pod) {
	j := c.jobs[apiserver.ControllerOf(before)]
	if j == nil || j.gone || apiserver.JobFinished(j.now) || j.now.DeletionTimestamp != nil || p.relabelled && !apiserver.Selects(j.now, before.Labels) {
		return // J-100, J-090
	}
	if c.accounted(j.now, p) || c.notCounted(j.now, p) {
		return
	}
	intent, known := c.intent(w)
	switch {
	case known && !intent.Surplus && isTrue(j.now, batchv1.JobSuccessCriteriaMet) && (intent.Waived || running(p.at(intent.PodSeen))):
		// Decided when it had not ended: it is not counted, whatever it came to since (J-142).
	case known && !intent.Surplus:
		c.report("design §2.7, J-085", w.Version, j, p, "the finalizer went before a stored status accounts for the pod (phase %s)", before.Status.Phase)
	case known && intent.PodSeen != 0 && !active(p.at(intent.PodSeen)):
		c.report("J-073", w.Version, j, p, "dropped as surplus although the pod was known to have ended or to be on its way")
	default:
		p.doomed = true // and has to be deleted; Settled and the finish of the Job look whether it was
	}
}

// accounted reports whether the Job's stored status accounts for the pod.
func (c *Checker) accounted(j *batchv1.Job, p *pod) bool {
	if p.entry != unaccounted {
		return true
	}
	i, ok := p.index(j)
	if !ok || !indexed(j) || p.now.Status.Phase != corev1.PodSucceeded {
		return false
	}
	set, err := apiserver.IndexSet(j.Status.CompletedIndexes, *j.Spec.Completions)
	return err == nil && set[i]
}

// notCounted reports whether the pod is none that is to be counted (J-035, J-091).
func (c *Checker) notCounted(j *batchv1.Job, p *pod) bool {
	_, valid := p.index(j)
	switch {
	case !valid && apiserver.PodTerminal(p.now):
		return true
	case isTrue(j, batchv1.JobSuccessCriteriaMet) && !p.failedBeforeDeletion() && p.now.Status.Phase != corev1.PodSucceeded:
		return true
	case mayIgnore(j) && p.now.Status.Phase == corev1.PodFailed:
		return true
	}
	return false
}

func running(p *corev1.Pod) bool { return p != nil && !apiserver.PodTerminal(p) }

func active(p *corev1.Pod) bool {
	return p != nil && !apiserver.PodTerminal(p) && p.DeletionTimestamp == nil
}

// checkRoom: after a creation no index has two live pods made from one template, and the Job no more pods than it wants.
func (c *Checker) checkRoom(w apiserver.Write, made *pod) {
	j := made.job
	if j == nil || made.late {
		return
	}
	live, done := int32(0), int32(0)
	for _, p := range j.sortedPods() {
		if !p.owned(j) || p.relabelled || p.late || p.createdBy != c.cfg.Actor {
			continue
		}
		if p.live() {
			live++
			c.checkIndexFree(w, j, made, p)
		} else if p.now.Status.Phase == corev1.PodSucceeded && p.deletedBy == "" && (p.tracked && !p.dropTried || p.entry == inSucceeded || p.entry == countedSucceeded) {
			done++
		}
	}
	spec := &j.now.Spec
	if j.rescaled || spec.Parallelism == nil {
		return
	}
	if live > *spec.Parallelism {
		c.report("J-047", w.Version, j, made, "%d live pods, parallelism is %d", live, *spec.Parallelism)
	}
	if spec.Completions != nil && !indexed(j.now) && live+done > *spec.Completions {
		c.report("J-047", w.Version, j, made, "%d live and %d succeeded pods, completions are %d", live, done, *spec.Completions)
	}
}

func (c *Checker) checkIndexFree(w apiserver.Write, j *job, made, other *pod) {
	if made == other || !indexed(j.now) || made.now.Annotations[events.TemplateAnnotation] != other.now.Annotations[events.TemplateAnnotation] {
		return
	}
	i, ok1 := made.index(j.now)
	k, ok2 := other.index(j.now)
	if ok1 && ok2 && i == k {
		c.report("J-052", w.Version, j, made, "index %d has another live pod, %s", i, other.key)
	}
}

func (c *Checker) intent(w apiserver.Write) (Intent, bool) {
	if c.cfg.Intent == nil {
		return Intent{}, false
	}
	return c.cfg.Intent(w)
}
