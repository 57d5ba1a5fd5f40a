package invariants

import (
	"maps"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// job is what the checker knows about one Job.
type job struct {
	uid      types.UID
	key      apiserver.Key
	now      *batchv1.Job // the Job as stored; after its deletion, as it was last
	gone     bool
	stored   time.Time // time of the Job's newest version
	versions []*batchv1.Job
	finisher string // who finished the Job; empty while it is unfinished
	starter  string // who published the Job's start time
	rescaled bool   // a user changed the Job's parallelism
	resized  bool   // a user changed the Job's completions
	replaced bool   // a user changed podReplacementPolicy
	fewest   int32  // the smallest value that spec.completions ever had
	pods     map[types.UID]*pod
}

func (j *job) follow(actor string, before, after *batchv1.Job) {
	if after == nil {
		j.gone = true
		return
	}
	if before != nil {
		j.rescaled = j.rescaled || deref(before.Spec.Parallelism) != deref(after.Spec.Parallelism)
		j.resized = j.resized || deref(before.Spec.Completions) != deref(after.Spec.Completions)
		if apiserver.JobFinished(after) && !apiserver.JobFinished(before) {
			j.finisher = actor
		}
	}
	if after.Status.StartTime != nil && (before == nil || !after.Status.StartTime.Equal(before.Status.StartTime)) {
		j.starter = actor
	}
	if n := after.Spec.Completions; n != nil && (before == nil || *n < j.fewest) {
		j.fewest = *n
	}
	j.now = after
	j.versions = append(j.versions, after)
	if before != nil && failedOnly(before) != failedOnly(after) {
		j.replaced = true
		for _, p := range j.pods {
			p.noteEnd()
		}
	}
}

// at returns the Job at a resource version; nil if it did not exist yet.
func (j *job) at(version uint64) *batchv1.Job {
	var found *batchv1.Job
	for _, v := range j.versions {
		if apiserver.VersionOf(v) > version {
			break
		}
		found = v
	}
	return found
}

// sortedPods returns the Job's pods in a fixed order, so that the first violation is the same in each run.
func (j *job) sortedPods() []*pod {
	return slices.SortedFunc(maps.Values(j.pods), func(a, b *pod) int {
		if a.uid < b.uid {
			return -1
		}
		return 1
	})
}

// entry says where a Job's stored status accounts for a pod, if at all.
type entry uint8

const (
	unaccounted      entry = iota
	inSucceeded            // in uncountedTerminatedPods.succeeded
	inFailed               // in uncountedTerminatedPods.failed
	countedSucceeded       // in status.succeeded
	countedFailed          // in status.failed
	countedInTheEnd        // in a counter, by the write that finished the Job; it is unknown in which one
)

// pod is what the checker knows about one Pod.
type pod struct {
	uid       types.UID
	key       apiserver.Key
	createdBy string
	late      bool // it was created after the controller had stopped waiting for the request and forgotten it
	// the same create was sent twice, and made this pod after the first one was gone; the controller deletes it when it
	// sees it (docs/design/0001)
	again    bool
	now      *corev1.Pod // the Pod as stored; after its deletion, as it was last
	gone     bool
	versions []*corev1.Pod
	job      *job // the Job that controls it, or did so last

	entries   map[*job]entry // how each Job that controls it, or did, accounts for it
	tracked   bool           // has the finalizer
	droppedBy string         // who last removed the finalizer
	ended     bool           // it ended with the finalizer; a deletion can count as an end (J-023)
	deletedBy string         // who first requested its deletion
	deletedAt time.Time      // when that was
	// a user changed its labels or owner after the controller adopted it, so it is not certain whether the controller
	// sees it as the Job's
	relabelled bool
	adopted    bool // a Job adopted it, so that the Job may have more pods than it created
	surplus    bool // the controller removed the finalizer without counting it, and must delete the pod
	deleteSent bool // the controller sent a delete
	// a try to remove the finalizer failed before any status accounted for the pod, so the pod may be surplus
	dropTried bool
}

func (p *pod) follow(c *Checker, w apiserver.Write, before, after *corev1.Pod) {
	if before != nil && after != nil && !maps.Equal(before.Labels, after.Labels) && w.Actor != c.cfg.Actor {
		p.relabelled = true
	}
	if before != nil && after != nil && apiserver.ControllerOf(before) != apiserver.ControllerOf(after) && w.Actor != c.cfg.Actor {
		p.relabelled = true
	}
	if before != nil && after != nil && adopted(before, after) && w.Actor == c.cfg.Actor {
		p.relabelled, p.adopted = false, true // the patch names the version on which the adoption was decided
		if p.job != nil && apiserver.ControllerOf(after) != p.job.uid {
			p.surplus = false // the pod belongs to another Job now, so the earlier Job need not delete it
		}
		p.late = p.late || w.Late && c.forgotten
	}
	wasTracked := p.tracked
	if after == nil {
		p.gone, p.tracked = true, false
	} else {
		p.now = after
		p.versions = append(p.versions, after)
		if j := c.jobs[apiserver.ControllerOf(after)]; j != nil {
			p.job = j
			j.pods[p.uid] = p
		}
		p.tracked = hasFinalizer(after)
		if after.DeletionTimestamp != nil && p.deletedBy == "" {
			p.deletedBy, p.deletedAt = w.Actor, w.Time
		}
	}
	switch {
	case wasTracked && w.Late && c.forgotten:
		// If the controller forgot its request in a crash, nothing can be concluded from its late effect.
	case wasTracked && !p.tracked && p.job != nil && apiserver.ControllerOf(before) == p.job.uid && apiserver.Selects(p.job.now, before.Labels):
		p.droppedBy = w.Actor
	case !wasTracked && p.tracked:
		p.droppedBy, p.dropTried = "", false
	}
	p.noteEnd()
}

// stripped reports whether another client than actor removed the finalizer. If the outcome of a status write that
// lists the pod is unknown then, nobody can know whether the pod counts.
func (p *pod) stripped(actor string) bool { return p.droppedBy != "" && p.droppedBy != actor }

// adopted reports whether a write gave a pod without an owner to a Job.
func adopted(before, after *corev1.Pod) bool {
	return apiserver.ControllerOf(before) == "" && apiserver.ControllerOf(after) != ""
}

// accounted returns the entry of the pod for Job j: whether j's status accounts for the pod, and in which field. A pod
// has an entry for each Job, because another Job may adopt it, and then both statuses may account for it.
func (p *pod) accounted(j *job) entry { return p.entries[j] }

// account sets the entry of the pod for Job j.
func (p *pod) account(j *job, e entry) {
	if p.entries == nil {
		p.entries = map[*job]entry{}
	}
	p.entries[j] = e
}

// noteEnd notes that the pod ended while it had the finalizer. A pod that is being deleted counts as ended, unless the
// Job replaces only failed pods (J-023).
func (p *pod) noteEnd() {
	if !p.tracked || p.job == nil {
		return
	}
	terminating := p.now.DeletionTimestamp != nil && !failedOnly(p.job.now)
	if apiserver.PodTerminal(p.now) || terminating {
		p.ended = true
	}
}

func hasFinalizer(p *corev1.Pod) bool {
	return slices.Contains(p.Finalizers, events.TrackingFinalizer) || slices.Contains(p.Finalizers, events.BuiltinTrackingFinalizer)
}

// at returns the Pod at a resource version; nil if it did not exist yet.
func (p *pod) at(version uint64) *corev1.Pod {
	var found *corev1.Pod
	for _, v := range p.versions {
		if apiserver.VersionOf(v) > version {
			break
		}
		found = v
	}
	return found
}

// owned reports whether the pod exists, and the Job controls and selects it.
func (p *pod) owned(j *job) bool {
	return !p.gone && p.job == j && apiserver.ControllerOf(p.now) == j.uid && apiserver.Selects(j.now, p.now.Labels)
}

// live reports whether the pod exists, has not ended and is not being deleted.
func (p *pod) live() bool {
	return !p.gone && !apiserver.PodTerminal(p.now) && p.now.DeletionTimestamp == nil
}

// index returns the pod's completion index. ok is false if the index is missing or is not below the Job's completions
// (J-035). A pod of a NonIndexed Job has no index, and ok is true.
func (p *pod) index(j *batchv1.Job) (i int32, ok bool) { return indexOf(p.now, j) }

// indexes returns all completion indexes that the pod had in any version, because users may change the annotation. sure
// is false if there were several, or an invalid one; then it is unknown which one the controller had seen when it
// decided.
func (p *pod) indexes(j *batchv1.Job) (all []int32, sure bool) {
	valid := true
	for _, v := range p.versions {
		i, ok := indexOf(v, j)
		valid = valid && ok
		if ok && !slices.Contains(all, i) {
			all = append(all, i)
		}
	}
	return all, valid && len(all) == 1
}

func indexOf(p *corev1.Pod, j *batchv1.Job) (i int32, ok bool) {
	if !indexed(j) {
		return -1, true
	}
	n, err := strconv.ParseInt(p.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil || n < 0 || j.Spec.Completions == nil || n >= int64(*j.Spec.Completions) {
		return -1, false
	}
	return int32(n), true
}
