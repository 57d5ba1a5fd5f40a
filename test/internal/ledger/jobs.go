package ledger

import (
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/jobstatus"
)

// entry says in which list of uncountedTerminatedPods the UID of a pod is; left says that it was there and has left
// it.
type entry struct {
	succeeded bool // the list is the one of succeeded pods
	left      bool
}

// seeJob checks a new version of the Job against the versions before. gone is true for the last version of a deleted
// Job.
func (a *Account) seeJob(job *batchv1.Job, gone bool) {
	old := a.Job
	a.Job, a.Gone = job, gone
	a.spec.note(&job.Spec)
	a.wish(&job.Spec)
	if a.success.IsZero() && True(job, batchv1.JobSuccessCriteriaMet) {
		a.success = a.seen
		a.policy = policyMet(job)
	}
	if True(job, batchv1.JobFailureTarget) && (old == nil || !True(old, batchv1.JobFailureTarget)) {
		s := &job.Status
		a.failing = a.seen
		a.verdict = indexCounts{len(Indexes(deref(s.FailedIndexes, ""))), len(Indexes(s.CompletedIndexes))}
	}
	if old != nil && old.Generation != job.Generation {
		a.edited = a.seen
	}
	if gone {
		return
	}
	if old == nil || !apiequality.Semantic.DeepEqual(old.Status, job.Status) {
		a.checkStatus(old, job)
	}
	a.markExcess()
}

// checkStatus checks the status of a new version of the Job; old is the version before.
func (a *Account) checkStatus(old, job *batchv1.Job) {
	s := &job.Status
	if old != nil {
		a.checkSteps(old, job)
	}
	if s.Active != 0 || s.StartTime != nil || len(s.Conditions) > 0 {
		if s.Ready == nil || s.Terminating == nil || s.UncountedTerminatedPods == nil && !a.ledger.config.Builtin {
			a.complain("J-027, J-028, J-030", "ready, terminating or uncountedTerminatedPods is missing: %+v", *s)
		}
	}
	for _, breach := range jobstatus.Breaches(old, job) {
		a.complain(breach.Rule, "%s", breach.What)
	}
	a.checkGoesOn(job)
	a.checkLists(job)
	a.checkEvidence(job)
	if isIndexed(job) {
		a.checkIndexes(old, job)
	} else if s.CompletedIndexes != "" || s.FailedIndexes != nil {
		a.complain("J-040", "indexes of a Job that is not Indexed: %q, %v", s.CompletedIndexes, s.FailedIndexes)
	}
	if Finished(job) {
		a.checkFinished(job)
	}
}

// checkSteps checks which fields of the status have changed since old, the version before, and whether each change is
// allowed.
func (a *Account) checkSteps(old, job *batchv1.Job) {
	was, is := &old.Status, &job.Status
	if Finished(old) {
		a.complain("J-008", "a finished Job was written again: %+v, before %+v", *is, *was)
	}
	if is.Failed < was.Failed {
		a.complain("J-037", "failed goes back from %d to %d", was.Failed, is.Failed)
	}
	if is.Succeeded < was.Succeeded && (!isIndexed(job) || a.spec.leastCompletions == a.spec.mostCompletion) {
		a.complain("J-037", "succeeded goes back from %d to %d", was.Succeeded, is.Succeeded)
	}
}

// checkGoesOn checks that a Job has the condition FailureTarget as soon as its published status shows more failures
// than its limits allow (J-112, J-123, J-124). It uses the highest limits of any spec that the Job had. While the Job
// may adopt pods, it may go on (J-018).
func (a *Account) checkGoesOn(job *batchv1.Job) {
	if True(job, batchv1.JobFailureTarget) || True(job, batchv1.JobSuccessCriteriaMet) || a.claiming() {
		return
	}
	s, failed := &job.Status, len(Indexes(deref(job.Status.FailedIndexes, "")))
	if n := s.Failed + int32(len(uncounted(job).Failed)); n > a.spec.mostBackoff {
		a.complain("J-112", "%d pods have failed, the limit is %d, and it goes on", n, a.spec.mostBackoff)
	}
	if failed > int(a.spec.mostFailedIndexes) {
		a.complain("J-123", "%d indexes have failed, the limit is %d, and it goes on", failed, a.spec.mostFailedIndexes)
	}
	if failed > 0 && failed+len(Indexes(s.CompletedIndexes)) >= int(a.spec.mostCompletion) {
		a.complain("J-124", "no index is left to run, some have failed (%s), and it goes on", *s.FailedIndexes)
	}
}

// claiming reports whether the Job may be adopting pods: it had a pod at some time that another client took away, or
// that the Job's controller did not create.
func (a *Account) claiming() bool {
	for _, p := range a.pods {
		if p.released || p.stray && !a.ledger.config.Builtin {
			return true
		}
	}
	return false
}

// checkLists checks the lists of uncounted pods. The UID of a pod enters one list, once. It moves to the counter after
// its finalizer was removed, or in the write that finishes the Job (J-085, J-087, J-088).
func (a *Account) checkLists(job *batchv1.Job) {
	now := map[types.UID]bool{} // UIDs in the lists; true: in the list of succeeded pods
	lists := uncounted(job)
	for _, uid := range slices.Concat(lists.Succeeded, lists.Failed) {
		if _, twice := now[uid]; twice {
			a.complain("J-209", "pod %s is listed twice", uid)
		}
		now[uid] = slices.Contains(lists.Succeeded, uid)
	}
	for uid, succeeded := range now {
		e, known := a.entries[uid]
		switch {
		case known && e.left:
			a.complain("J-088", "pod %s is listed again after it was counted", a.podName(uid))
		case known && e.succeeded != succeeded:
			a.complain("J-034, J-088", "pod %s changed its list", a.podName(uid))
		case !known && a.pods[uid] == nil:
			a.complain("J-031", "UID %s is listed, and is no pod of the Job", uid)
		}
		a.entries[uid] = entry{succeeded: succeeded}
	}
	for uid, e := range a.entries {
		if _, listed := now[uid]; listed || e.left {
			continue
		}
		if p := a.pods[uid]; p != nil && p.tracked() && !p.released && !Finished(job) {
			a.complain("J-085", "pod %s moved to the counter with its finalizer", p.now.Name)
		}
		a.entries[uid] = entry{succeeded: e.succeeded, left: true}
	}
}

// checkEvidence checks that no counter is higher than the number of pods that can be counted there (J-036, each pod is
// counted once).
func (a *Account) checkEvidence(job *batchv1.Job) {
	lists := uncounted(job)
	failed, succeeded := 0, 0
	for _, p := range a.pods {
		if p.mayFail(a, job) {
			failed++
		}
		if p.succeeded {
			succeeded++
		}
	}
	if n := int(job.Status.Failed) + len(lists.Failed); n > failed {
		a.complain("J-085, each pod is counted once", "%d pods are counted as failed, but only %d failed", n, failed)
	}
	if n := int(job.Status.Succeeded) + len(lists.Succeeded); n > succeeded && !isIndexed(job) {
		a.complain("J-085, each pod is counted once", "%d pods are counted as succeeded, but only %d succeeded", n, succeeded)
	}
}

// checkIndexes checks the status fields completedIndexes and failedIndexes (J-039 to J-041, J-117, J-126).
func (a *Account) checkIndexes(old, job *batchv1.Job) {
	s := &job.Status
	completed, failed := Indexes(s.CompletedIndexes), Indexes(deref(s.FailedIndexes, ""))
	if n := int(s.Succeeded); n != len(completed) && (n < len(completed) || a.spec.leastCompletions == a.spec.mostCompletion) {
		// A breach, unless succeeded is only too high and completions have changed: the status may show that change
		// later (J-236).
		a.complain("J-039", "succeeded is %d, but %d indexes are completed", n, len(completed))
	}
	had, lost := map[int]bool{}, map[int]bool{}
	for _, p := range a.pods {
		had[p.index] = had[p.index] || p.succeeded
		lost[p.index] = lost[p.index] || p.mayFail(a, job)
	}
	for i := range completed {
		if !had[i] {
			a.complain("J-039", "index %d is completed, but no pod of it has succeeded", i)
		}
		if failed[i] && !a.ledger.config.Builtin {
			a.complain("J-126", "index %d is both completed and failed", i)
		}
	}
	for i := range failed {
		if !lost[i] {
			a.complain("J-116", "index %d is failed, but no pod of it has", i)
		}
	}
	isPerIndex := job.Spec.BackoffLimitPerIndex != nil
	if s.FailedIndexes != nil && !isPerIndex || s.FailedIndexes == nil && isPerIndex && s.StartTime != nil {
		a.complain("J-040", "failedIndexes is %v with backoffLimitPerIndex %v", s.FailedIndexes, job.Spec.BackoffLimitPerIndex)
	}
	if old == nil {
		return
	}
	least := int(a.spec.leastCompletions)
	for i := range Indexes(old.Status.CompletedIndexes) {
		if !completed[i] && i < least {
			a.complain("J-039", "index %d is not completed any more", i)
		}
	}
	for i := range Indexes(deref(old.Status.FailedIndexes, "")) {
		if !failed[i] && i < least {
			a.complain("J-117", "index %d is not failed any more", i)
		}
	}
}

// checkFinished checks the status and the pods of a Job that has just finished (J-163, J-165, J-166).
func (a *Account) checkFinished(job *batchv1.Job) {
	s, lists := &job.Status, uncounted(job)
	if s.Active != 0 || deref(s.Ready, 0) != 0 || deref(s.Terminating, 0) != 0 || len(lists.Succeeded)+len(lists.Failed) > 0 {
		a.complain("J-166", "something is left in the status of a finished Job: %+v", *s)
	}
	if nothing := deref(job.Spec.Suspend, false) && deref(job.Spec.Completions, 1) == 0; s.StartTime == nil && !nothing {
		a.complain("J-166", "finished without a startTime")
	}
	complete := True(job, batchv1.JobComplete)
	if complete != (s.CompletionTime != nil) {
		a.complain("J-165", "completionTime is %v", s.CompletionTime)
	}
	for _, p := range a.pods {
		if !p.gone && !p.released && !p.terminal() {
			a.complain("J-163", "finished while pod %s is %s", p.now.Name, p.now.Status.Phase)
		}
	}
}

// find returns the condition of a type; nil if there is none.
func find(job *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		if job.Status.Conditions[i].Type == kind {
			return &job.Status.Conditions[i]
		}
	}
	return nil
}

// True reports whether the Job has the condition with status True.
func True(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	c := find(job, kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

// Finished reports whether the Job has the condition Complete or Failed with status True.
func Finished(job *batchv1.Job) bool {
	return True(job, batchv1.JobComplete) || True(job, batchv1.JobFailed)
}

func uncounted(job *batchv1.Job) batchv1.UncountedTerminatedPods {
	return deref(job.Status.UncountedTerminatedPods, batchv1.UncountedTerminatedPods{})
}

func isIndexed(job *batchv1.Job) bool {
	return deref(job.Spec.CompletionMode, batchv1.NonIndexedCompletion) == batchv1.IndexedCompletion
}

// failedOnly reports whether a pod that is being deleted counts as failed only once its phase is Failed (J-022,
// J-024).
func failedOnly(s *batchv1.JobSpec) bool {
	return s.PodFailurePolicy != nil || deref(s.PodReplacementPolicy, batchv1.TerminatingOrFailed) == batchv1.Failed
}

func (a *Account) podName(uid types.UID) string {
	if p := a.pods[uid]; p != nil {
		return p.now.Name
	}
	return string(uid)
}

// sortedPods returns the pods in a fixed order.
func (a *Account) sortedPods() []*pod {
	return slices.SortedFunc(maps.Values(a.pods), func(x, y *pod) int {
		if x.now.UID < y.now.UID {
			return -1
		}
		return 1
	})
}
