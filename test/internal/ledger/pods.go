package ledger

import (
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/podfailure"
)

// pod is what the history shows of a pod. "Ever" in a comment means: in any version so far.
type pod struct {
	now         *corev1.Pod
	gone        bool
	index       int  // completion index; -1: none
	stray       bool // not created by a command of Jobledger
	released    bool // its owner or its labels showed at some time that it is not the Job's
	everTracked bool
	succeeded   bool      // Succeeded in some version
	credit      bool      // Succeeded in some version, while it had the finalizer
	failed      bool      // Failed in some version, while it had the finalizer
	deleted     bool      // deleted while it had the finalizer, before it ended
	leaving     bool      // its deletion was requested
	ended       time.Time // when it was first seen as ended
	inactive    time.Time // when it was first seen as ended or as being deleted
	excess      bool      // it was perhaps surplus at some time, so that it may stay uncounted (J-073)
	ignored     bool      // a rule of the podFailurePolicy says that its failure does not count (J-114)
	afterwards  bool      // deleted before it ended, and after the Job's success was stored (J-142)
}

func (p *pod) tracked() bool  { return !p.gone && Tracked(p.now) }
func (p *pod) terminal() bool { return Terminal(p.now) }
func (p *pod) live() bool     { return !p.gone && Live(p.now) }

// seePod checks a new version of a pod, and remembers what it shows. gone is true for the last version of a deleted
// pod.
func (a *Account) seePod(now *corev1.Pod, gone bool) {
	p := a.pods[now.UID]
	fresh := p == nil
	if fresh {
		p = &pod{index: indexOf(now), stray: now.Annotations[events.CommandAnnotation] == ""}
		a.pods[now.UID] = p
	}
	held := !fresh && p.tracked()
	p.now, p.gone = now, gone
	if a.Job == nil {
		a.complain("J-062", "pod %s is there before its Job", now.Name)
		return
	}
	p.released = p.released || !a.claims(now)
	p.noteEnd(a.seen)
	a.noteDeletion(p)
	p.ignored = p.ignored || podfailure.Ignored(a.Job, now)
	a.markExcess()
	if held && !p.tracked() && !a.mayDrop(p) {
		a.complain("J-085, J-090", "pod %s (%s) has lost its finalizer, but no status accounts for it", now.Name, now.Status.Phase)
	}
	if fresh && !gone && !p.released {
		a.checkCreated(p)
	}
}

func (p *pod) noteEnd(at time.Time) {
	tracked := Tracked(p.now) // for a deleted pod: whether its last version had the finalizer
	p.everTracked = p.everTracked || tracked
	if p.terminal() && p.ended.IsZero() {
		p.ended = at
	}
	if !Live(p.now) && p.inactive.IsZero() {
		p.inactive = at
	}
	p.afterwards = p.afterwards && !endedFirst(p.now)
	switch {
	case p.now.Status.Phase == corev1.PodSucceeded:
		p.succeeded = true
		p.credit = p.credit || tracked
	case tracked && p.now.Status.Phase == corev1.PodFailed:
		p.failed = true
	case tracked && p.now.DeletionTimestamp != nil:
		p.deleted = true
	}
}

// endedFirst reports whether the containers of a failed pod had ended before its deletion was requested. Such a pod
// counts even if its Job has succeeded (J-140).
func endedFirst(p *corev1.Pod) bool {
	if p.Status.Phase != corev1.PodFailed || p.DeletionTimestamp == nil || len(p.Status.ContainerStatuses) == 0 {
		return false
	}
	asked := p.DeletionTimestamp.Add(-time.Duration(deref(p.DeletionGracePeriodSeconds, 0)) * time.Second)
	for _, c := range p.Status.ContainerStatuses {
		if t := c.State.Terminated; t == nil || !t.FinishedAt.Time.Before(asked) {
			return false
		}
	}
	return true
}

// noteDeletion checks a deletion by the Job's controller. If the controller deletes a pod that has not ended, it must
// first remove the finalizer, so that the pod does not count as failed. This does not apply if the Job is ending or is
// itself being deleted (J-073, J-078, J-079).
func (a *Account) noteDeletion(p *pod) {
	if p.leaving || p.now.DeletionTimestamp == nil {
		return
	}
	p.leaving = true
	succeeded := True(a.Job, batchv1.JobSuccessCriteriaMet)
	p.afterwards = succeeded && !p.failed && !p.succeeded && !a.ledger.config.Builtin
	switch {
	case a.ledger.config.Deleted == nil || a.ledger.config.Deleted(p.now.UID) || p.released || p.terminal() || !Tracked(p.now):
	case succeeded, True(a.Job, batchv1.JobFailureTarget), a.Gone, a.Job.DeletionTimestamp != nil:
	default:
		a.complain("J-073", "pod %s was deleted with its finalizer, so that it counts as failed", p.now.Name)
	}
}

// claims reports whether the pod belongs to the Job: the Job is its controller, and selects its labels.
func (a *Account) claims(now *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(now)
	if owner == nil || owner.UID != a.UID {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(a.Job.Spec.Selector)
	return err != nil || a.Job.Spec.Selector == nil || selector.Matches(labels.Set(now.Labels))
}

// checkCreated checks a pod that the controller has just created (J-009, J-047, J-048, J-052, J-084, J-136).
func (a *Account) checkCreated(p *pod) {
	if !p.tracked() {
		a.complain("J-084", "pod %s was created without the finalizer", p.now.Name)
	}
	if Finished(a.Job) {
		a.complain("J-009", "pod %s was created after the Job had finished", p.now.Name)
	}
	if i := p.index; isIndexed(a.Job) && !a.ledger.config.Builtin && a.spec.leastCompletions == a.spec.mostCompletion && !a.meddled(p) {
		a.checkIndexWants(p, i)
	}
	busy := 0
	for _, other := range a.pods {
		if other.gone || other.released || other.terminal() {
			continue
		}
		leaving := other.now.DeletionTimestamp != nil
		if leaving && a.spec.replacesEarly {
			continue
		}
		busy++
		if other == p || !isIndexed(a.Job) || other.index != p.index {
			continue
		}
		if leaving {
			a.complain("J-136", "pod %s was made for index %d while %s is terminating", p.now.Name, p.index, other.now.Name)
		} else {
			a.complain("J-052", "index %d has two live pods: %s and %s", p.index, p.now.Name, other.now.Name)
		}
	}
	if most := int(a.spec.mostParallel); busy > most {
		a.complain("J-047, J-048", "%d pods hold a slot, the Job wants at most %d", busy, most)
	}
}

// meddled reports whether another pod of the same index can end at any time and in any way, even while the new pod p is
// being created: a client took that pod away from the Job, or it was deleted and then succeeded.
func (a *Account) meddled(p *pod) bool {
	for _, other := range a.pods {
		if other != p && other.index == p.index && (other.released || other.stray || other.deleted && other.succeeded || a.ledger.config.Stripped(other.now.UID)) {
			return true
		}
	}
	return false
}

// checkIndexWants checks that a pod is created only for an index that is published neither as completed nor as failed,
// and that the pod carries the number of the index's failures (J-052, J-117, J-119).
func (a *Account) checkIndexWants(p *pod, i int) {
	s := &a.Job.Status
	if Indexes(s.CompletedIndexes)[i] || Indexes(deref(s.FailedIndexes, ""))[i] {
		a.complain("J-052, J-117", "pod %s was made for index %d, completed are %q, failed %q", p.now.Name, i, s.CompletedIndexes, deref(s.FailedIndexes, ""))
	}
	if a.Job.Spec.BackoffLimitPerIndex == nil {
		return
	}
	before, failed := int32(-1), int32(0)
	for _, other := range a.pods {
		if other == p || other.index != i || !other.mayFail(a, a.Job) && !other.ignored {
			continue
		}
		failed++
		if _, all := podfailure.Earlier(other.now); other.tracked() && !a.accounted(other) && !other.excess {
			before = max(before, all)
		}
	}
	if _, all := podfailure.Earlier(p.now); all <= before || all > failed {
		a.complain("J-119", "pod %s says that index %d has failed %d times; %d pods of it have failed, the last after %d", p.now.Name, i, all, failed, before)
	}
}

// mayFail reports whether a status may count the pod as failed (J-022, J-038).
func (p *pod) mayFail(a *Account, job *batchv1.Job) bool {
	switch failing := p.everTracked && True(job, batchv1.JobFailureTarget); {
	case p.ignored:
		// A pod whose failure a rule ignores: only while the Job fails may it be counted, like all pods then.
		return failing && p.ended.After(a.failing.Add(-lag))
	case p.afterwards:
		return false // a pod deleted after the Job's success never counts, however it ended
	case p.failed, failing:
		return true
	default:
		return p.deleted && a.spec.replacesEarly
	}
}

// mayDrop reports whether the controller may remove the finalizer of a pod: a stored status accounts for the pod, or
// the pod need not be counted.
func (a *Account) mayDrop(p *pod) bool {
	switch {
	case a.accounted(p), p.excess, p.released, a.ledger.config.Stripped(p.now.UID):
		return true
	case Finished(a.Job), a.Gone, a.Job.DeletionTimestamp != nil:
		// No pod of such a Job needs its finalizer (J-090, J-100).
		return true
	case True(a.Job, batchv1.JobSuccessCriteriaMet) && (!p.terminal() || p.leaving || a.seen.Sub(p.ended) < lag):
		// The Job has succeeded, and this pod has not ended, is being deleted, or ended so recently that the
		// controller may not know it (J-091, J-142).
		return true
	case isIndexed(a.Job) && (p.index < 0 || p.index >= int(a.spec.leastCompletions)):
		// The pod's index is missing or too high (J-035, J-076).
		return true
	}
	return p.ignored // a pod whose failure a rule ignores need not be counted (J-114)
}

// accounted reports whether the Job's stored status accounts for the pod.
func (a *Account) accounted(p *pod) bool {
	if _, listed := a.entries[p.now.UID]; listed {
		return true
	}
	return isIndexed(a.Job) && (p.succeeded || p.now.Status.Phase == corev1.PodSucceeded) && Indexes(a.Job.Status.CompletedIndexes)[p.index]
}

// lag is how old a controller's view of the pods may be. A pod that ended 9 s ago may still be active in that view,
// one that ended 11 s ago may not.
const lag = 10 * time.Second

// perhapsLive reports whether the controller may take a pod to be active. For 10 s after a change of the spec, this
// includes pods that ended less than 10 s before: a controller that acts on the change may not know of their end.
// Without a change of the spec, nothing makes such a pod surplus.
func (a *Account) perhapsLive(p *pod) bool {
	return p.live() || !a.edited.IsZero() && a.seen.Sub(a.edited) < lag && a.seen.Sub(p.inactive) < lag
}

// markExcess marks the pods that a controller may find surplus. Either the Job has more active pods than wanted by a
// spec that the controller may still act on, or the pod's index has another pod or needs none (J-071, J-073, J-076,
// J-078). The mark stays, even if the pod ends: its deletion may have been sent already, for example before a crash.
func (a *Account) markExcess() {
	if a.Job == nil {
		return
	}
	wanted, least := a.leastWanted()
	done := map[int]bool{}
	if isIndexed(a.Job) {
		done = Indexes(a.Job.Status.CompletedIndexes)
		for i := range Indexes(deref(a.Job.Status.FailedIndexes, "")) {
			done[i] = true
		}
	}
	active, succeeded := 0, 0
	ofIndex := map[int]int{}
	for _, p := range a.pods {
		if p.now.Status.Phase == corev1.PodSucceeded {
			succeeded++
		}
		if a.perhapsLive(p) {
			active++
		}
		if p.now.Status.Phase == corev1.PodSucceeded || a.perhapsLive(p) {
			ofIndex[p.index]++
		}
	}
	if least >= 0 && !isIndexed(a.Job) {
		wanted = min(wanted, least-int32(succeeded))
	}
	for _, p := range a.pods {
		if a.perhapsLive(p) && (active > int(wanted) || isIndexed(a.Job) && (ofIndex[p.index] > 1 || done[p.index])) {
			p.excess = true
		}
	}
}

// Live reports whether a pod has not ended and is not being deleted.
func Live(p *corev1.Pod) bool { return p.DeletionTimestamp == nil && !Terminal(p) }

// Terminal reports whether a pod has ended: its phase is Succeeded or Failed.
func Terminal(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// Tracked reports whether a pod has a tracking finalizer, Jobledger's or the built-in controller's.
func Tracked(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, events.TrackingFinalizer) || slices.Contains(p.Finalizers, events.BuiltinTrackingFinalizer)
}

// indexOf returns the completion index of a pod; -1 if it has none.
func indexOf(p *corev1.Pod) int {
	index, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return index
}

// Indexes parses a set of indexes such as 1,3-5. It skips text that it cannot parse; the wrong number of indexes then
// shows the error.
func Indexes(text string) map[int]bool {
	set := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		last := first
		if isRange {
			if last, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		for i := first; i <= last; i++ {
			set[i] = true
		}
	}
	return set
}
