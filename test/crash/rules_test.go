package crash

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// trackingFinalizer is what a pod carries until it is accounted for.
const trackingFinalizer = "jobledger.dev/job-tracking"

// broken goes through a history and says what in it must never be.
func broken(all []change) []string {
	accounts := map[types.UID]*account{}
	var wrong []string
	for _, c := range all {
		uid, ok := jobOf(c)
		if !ok {
			wrong = append(wrong, fmt.Sprintf("at %d: pod %s has no Job", c.version, c.pod.Name))
			continue
		}
		a := accounts[uid]
		if a == nil {
			a = newAccount()
			accounts[uid] = a
		}
		var found []string
		if c.job != nil {
			found = a.seeJob(c.job)
		} else {
			found = a.seePod(c.pod, c.gone)
		}
		for _, f := range found {
			wrong = append(wrong, fmt.Sprintf("at %d: %s", c.version, f))
		}
	}
	return wrong
}

// failures says, from a whole history, how many pods of an Indexed Job are to be counted as failed: those that failed while
// they carried the finalizer, and those that were deleted, unless they went on to succeed first.
func failures(all []change) (least, most int32) {
	failed, deleted, succeeded := map[types.UID]bool{}, map[types.UID]bool{}, map[types.UID]bool{}
	for _, c := range all {
		switch {
		case c.pod == nil || indexOf(c.pod) < 0:
		case c.pod.Status.Phase == corev1.PodSucceeded:
			succeeded[c.pod.UID] = true
		case tracked(c.pod) && c.pod.Status.Phase == corev1.PodFailed:
			failed[c.pod.UID] = true
		case tracked(c.pod) && c.pod.DeletionTimestamp != nil:
			deleted[c.pod.UID] = true
		}
	}
	maps.Copy(deleted, failed)
	for uid := range deleted {
		most++
		if !succeeded[uid] {
			least++
		}
	}
	return least, most
}

func jobOf(c change) (types.UID, bool) {
	if c.job != nil {
		return c.job.UID, true
	}
	owner := metav1.GetControllerOf(c.pod)
	if owner == nil {
		return "", false
	}
	return owner.UID, true
}

// account is one Job and its pods, as far as the history has been read.
type account struct {
	job       *batchv1.Job
	wanted    int // the least parallelism that the Job ever had
	pods      map[types.UID]*corev1.Pod
	uncounted map[types.UID]bool // were in uncountedTerminatedPods at any time
	succeeded map[types.UID]int  // were Succeeded at any time: their index
	failed    map[types.UID]bool // were, with the finalizer, Failed or being deleted at any time
	excess    map[types.UID]bool // ran at a time when more ran than the Job had ever wanted at least
}

func newAccount() *account {
	return &account{
		pods: map[types.UID]*corev1.Pod{}, uncounted: map[types.UID]bool{},
		succeeded: map[types.UID]int{}, failed: map[types.UID]bool{}, excess: map[types.UID]bool{},
	}
}

// seeJob checks a new version of the Job: counters and sets only grow, count nothing that has not happened, and rest once
// the Job has finished.
func (a *account) seeJob(job *batchv1.Job) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	completed := indexes(job.Status.CompletedIndexes)
	if old := a.job; old != nil {
		if job.Status.Succeeded < old.Status.Succeeded || job.Status.Failed < old.Status.Failed {
			complain("the counters go back from succeeded %d failed %d to %d and %d",
				old.Status.Succeeded, old.Status.Failed, job.Status.Succeeded, job.Status.Failed)
		}
		for index := range indexes(old.Status.CompletedIndexes) {
			if !completed[index] {
				complain("index %d is not completed any more", index)
			}
		}
		if finished(old) && (old.Status.Succeeded != job.Status.Succeeded || old.Status.Failed != job.Status.Failed) {
			complain("the counters change after the Job has finished")
		}
	}
	lists := job.Status.UncountedTerminatedPods
	waiting := batchv1.UncountedTerminatedPods{}
	if lists != nil {
		waiting = *lists
	}
	for _, uid := range slices.Concat(waiting.Succeeded, waiting.Failed) {
		a.uncounted[uid] = true
	}
	if n := int(job.Status.Failed) + len(waiting.Failed); n > len(a.failed) {
		complain("%d pods are counted as failed, but only %d failed", n, len(a.failed))
	}
	if n := int(job.Status.Succeeded) + len(waiting.Succeeded); n > len(a.succeeded) {
		complain("%d pods are counted as succeeded, but only %d succeeded", n, len(a.succeeded))
	}
	if isIndexed(job) {
		if int(job.Status.Succeeded) != len(completed) {
			complain("succeeded is %d, but %d indexes are completed", job.Status.Succeeded, len(completed))
		}
		a.hasSucceeded(completed, complain)
	}
	if n := int(*job.Spec.Parallelism); a.job == nil || n < a.wanted {
		a.wanted = n
	}
	a.job = job
	a.markExcess()
	return wrong
}

// hasSucceeded checks that each of the indexes had a pod that succeeded.
func (a *account) hasSucceeded(completed map[int]bool, complain func(string, ...any)) {
	had := map[int]bool{}
	for _, index := range a.succeeded {
		had[index] = true
	}
	for index := range completed {
		if !had[index] {
			complain("index %d is completed, but no pod of it has succeeded", index)
		}
	}
}

// seePod checks a new version of a pod: its index has no other live pod, no more pods are active than the Job wants, and
// its finalizer goes only when a stored status accounts for it.
func (a *account) seePod(pod *corev1.Pod, gone bool) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	old := a.pods[pod.UID]
	a.pods[pod.UID] = pod
	a.markExcess()
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		a.succeeded[pod.UID] = indexOf(pod)
	case tracked(pod) && (pod.Status.Phase == corev1.PodFailed || pod.DeletionTimestamp != nil):
		a.failed[pod.UID] = true
	}
	if a.job == nil {
		return []string{fmt.Sprintf("pod %s is there before its Job", pod.Name)}
	}
	if old == nil && !tracked(pod) {
		complain("pod %s was created without the finalizer", pod.Name)
	}
	if old != nil && tracked(old) && (gone || !tracked(pod)) && !a.accounted(pod) && !a.surplus(pod) {
		complain("pod %s (%s) has lost its finalizer, but no status accounts for it", pod.Name, pod.Status.Phase)
	}
	if gone {
		delete(a.pods, pod.UID)
		return wrong
	}
	if old == nil {
		if n := a.live(); n > int(*a.job.Spec.Parallelism) {
			complain("%d pods are active, the Job wants %d", n, *a.job.Spec.Parallelism)
		}
		for _, other := range a.pods {
			if isIndexed(a.job) && other.UID != pod.UID && isLive(other) && isLive(pod) && indexOf(other) == indexOf(pod) {
				complain("index %d has two live pods: %s and %s", indexOf(pod), other.Name, pod.Name)
			}
		}
	}
	return wrong
}

// accounted reports whether the stored status of the Job says what became of the pod.
func (a *account) accounted(pod *corev1.Pod) bool {
	index, succeeded := a.succeeded[pod.UID]
	return a.uncounted[pod.UID] || finished(a.job) ||
		isIndexed(a.job) && succeeded && indexes(a.job.Status.CompletedIndexes)[index]
}

// surplus reports whether the pod may go uncounted: it ran when more ran than the Job wanted at some time (J-073). What was
// decided then is not taken back once it may have been sent, as it may have been before a crash: not even if the pod has
// ended meanwhile.
func (a *account) surplus(pod *corev1.Pod) bool { return a.excess[pod.UID] }

func (a *account) markExcess() {
	if a.live() <= a.wanted {
		return
	}
	for uid, pod := range a.pods {
		if isLive(pod) {
			a.excess[uid] = true
		}
	}
}

// live counts the pods that are active.
func (a *account) live() (n int) {
	for _, pod := range a.pods {
		if isLive(pod) {
			n++
		}
	}
	return n
}

func isLive(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func tracked(pod *corev1.Pod) bool { return slices.Contains(pod.Finalizers, trackingFinalizer) }

func isIndexed(job *batchv1.Job) bool {
	return job.Spec.CompletionMode != nil && *job.Spec.CompletionMode == batchv1.IndexedCompletion
}

// finished reports whether the stored status has a terminal condition.
func finished(job *batchv1.Job) bool {
	return hasCondition(job, batchv1.JobComplete) || hasCondition(job, batchv1.JobFailed)
}

func hasCondition(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == kind && c.Status == corev1.ConditionTrue
	})
}

// indexOf is the completion index of a pod; -1 when it has none.
func indexOf(pod *corev1.Pod) int {
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return -1
	}
	return index
}

// indexes reads the text of an index set, such as 1,3-5. What it cannot read shows as a wrong number of indexes.
func indexes(text string) map[int]bool {
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

// names of pods for people.
func names(pods []*corev1.Pod) string {
	all := map[string]bool{}
	for _, pod := range pods {
		all[pod.Name] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}
