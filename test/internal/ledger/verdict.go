package ledger

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Failures returns how many pods the status of a finished Job must count as failed at least, and may count at most.
// least is the number of pods that failed with the finalizer, or were deleted if that counts, and that must be counted
// (mustCount). most is the number of all pods that may count as failed (mayFail).
func (a *Account) Failures() (least, most int32) {
	for _, p := range a.pods {
		certain := p.failed || p.deleted && !p.succeeded
		if certain && a.countsDeleted(p) && a.mustCount(p) {
			least++
		}
		if p.mayFail(a, a.Job) {
			most++
		}
	}
	return least, most
}

// mustCount reports whether the counters must include a pod that ended. This is so if no other client interfered with
// it and it was never surplus. If the Job has a success policy, the pod must also have ended long enough before the
// success for the controller to know of it (J-140, J-142).
func (a *Account) mustCount(p *pod) bool {
	switch {
	case p.excess, p.released, p.ignored, p.afterwards, !a.validIndex(p), a.ledger.config.Stripped(p.now.UID):
		return false
	case !a.success.IsZero() && a.Job.Spec.SuccessPolicy != nil:
		return p.ended.Before(a.success.Add(-lag))
	}
	return true
}

// countsDeleted reports whether the pod failed without a deletion, or else whether a deletion counts as a failure: the
// newest spec says so (J-022), and the Job did not succeed (J-142).
func (a *Account) countsDeleted(p *pod) bool {
	if p.failed && p.now.DeletionTimestamp == nil {
		return true
	}
	return !failedOnly(&a.Job.Spec) && !True(a.Job, batchv1.JobSuccessCriteriaMet)
}

func (a *Account) validIndex(p *pod) bool {
	return !isIndexed(a.Job) || p.index >= 0 && p.index < int(a.spec.leastCompletions)
}

// Settle checks a Job that must have ended completely: no pod has a finalizer, the counters include all pods, and the
// history confirms the reason for the end (J-102, J-168). It returns the violations that it finds.
func (a *Account) Settle() []Violation {
	before := len(a.ledger.found)
	for _, p := range a.sortedPods() {
		if p.tracked() && !p.released {
			a.complain("J-102", "pod %s (%s) keeps its finalizer", p.now.Name, p.now.Status.Phase)
		}
	}
	switch {
	case a.Job == nil || a.Gone:
	case True(a.Job, batchv1.JobComplete):
		a.checkComplete(find(a.Job, batchv1.JobComplete).Reason)
		a.checkForgotten()
	case True(a.Job, batchv1.JobFailed):
		a.checkFailed(find(a.Job, batchv1.JobFailureTarget))
		a.checkForgotten()
	default:
		a.complain("design §2, invariant 6", "it has not finished: %+v", a.Job.Status)
	}
	return a.ledger.found[before:]
}

func (a *Account) checkForgotten() {
	least, most := a.Failures()
	if n := a.Job.Status.Failed; n < least || n > most {
		a.complain("J-168, no pod is forgotten", "%d pods are counted as failed, the history says %d to %d", n, least, most)
	}
	done, credits := Indexes(a.Job.Status.CompletedIndexes), 0
	for _, p := range a.sortedPods() {
		// If the pod was listed as failed, it stays failed, however it ended (J-034).
		e, listed := a.entries[p.now.UID]
		if !p.credit || p.deleted || !a.mustCount(p) || listed && !e.succeeded {
			continue
		}
		credits++
		if isIndexed(a.Job) && !done[p.index] {
			a.complain("J-039, no pod is forgotten", "pod %s succeeded, but index %d is not completed", p.now.Name, p.index)
		}
	}
	if n := int(a.Job.Status.Succeeded); n < credits && !isIndexed(a.Job) {
		a.complain("J-085, no pod is forgotten", "%d pods are counted as succeeded, %d succeeded", n, credits)
	}
}

// checkComplete checks that a Job with the condition Complete has as many successes as its spec asks for.
func (a *Account) checkComplete(reason string) {
	s := &a.Job.Status
	switch completions := a.Job.Spec.Completions; {
	case reason == batchv1.JobReasonSuccessPolicy:
		if !a.policy {
			a.complain("J-139", "no rule of the success policy is met by %q", s.CompletedIndexes)
		}
	case reason != batchv1.JobReasonCompletionsReached:
		a.complain("J-159", "complete for the reason %q", reason)
	case completions == nil && s.Succeeded == 0:
		a.complain("J-160", "complete, and no pod has succeeded")
	case completions != nil && s.Succeeded < min(*completions, a.spec.leastCompletions):
		a.complain("J-160", "complete with %d of %d completions", s.Succeeded, *completions)
	}
}

// policyMet reports whether the completed indexes meet a rule of the success policy (J-139).
func policyMet(job *batchv1.Job) bool {
	if job.Spec.SuccessPolicy == nil {
		return false
	}
	done := Indexes(job.Status.CompletedIndexes)
	for _, r := range job.Spec.SuccessPolicy.Rules {
		required := done
		if r.SucceededIndexes != nil {
			required = Indexes(*r.SucceededIndexes)
		}
		met := 0
		for i := range required {
			if done[i] {
				met++
			}
		}
		if r.SucceededCount != nil && met >= int(*r.SucceededCount) || r.SucceededIndexes != nil && met == len(required) {
			return true
		}
	}
	return false
}

// checkFailed checks that the history confirms the reason for which a Job failed, for at least one version of its spec.
func (a *Account) checkFailed(c *batchv1.JobCondition) {
	s := &a.Job.Status
	switch c.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		onFailure := a.Job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
		if _, most := a.Failures(); most <= a.spec.leastBackoff && !onFailure {
			a.complain("J-112", "failed for its backoffLimit %d with %d failures", a.spec.leastBackoff, most)
		}
	case batchv1.JobReasonDeadlineExceeded:
		deadline := time.Duration(a.spec.leastDeadline) * time.Second
		if deadline == 0 || s.StartTime == nil || c.LastTransitionTime.Sub(s.StartTime.Time) < deadline {
			a.complain("J-146", "failed for a deadline of %s, from %s to %s", deadline, s.StartTime, c.LastTransitionTime)
		}
	case batchv1.JobReasonPodFailurePolicy:
		if !a.policyMatched(c.Message) {
			a.complain("J-132", "no failed pod is named by %q", c.Message)
		}
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		if a.verdict.failed <= int(a.spec.leastFailedIndexes) {
			a.complain("J-123", "failed for maxFailedIndexes %d with %d failed indexes", a.spec.leastFailedIndexes, a.verdict.failed)
		}
	case batchv1.JobReasonFailedIndexes:
		if v := a.verdict; v.failed == 0 || v.failed+v.completed < int(a.spec.leastCompletions) {
			a.complain("J-124", "failed for its indexes with %d failed and %d completed", v.failed, v.completed)
		}
	default:
		a.complain("J-159", "failed for the reason %q", c.Reason)
	}
}

// policyMatched reports whether message, the reason of a FailJob rule, names a pod of this Job that has failed.
func (a *Account) policyMatched(message string) bool {
	for _, p := range a.pods {
		if p.now.Status.Phase == corev1.PodFailed && strings.Contains(message, p.now.Namespace+"/"+p.now.Name+" ") {
			return true
		}
	}
	return false
}

// Pods returns how many pods the Job had so far.
func (a *Account) Pods() int { return len(a.pods) }

// Succeeded returns the pods that were Succeeded in some version: their indexes by UID; -1 for no index.
func (a *Account) Succeeded() map[types.UID]int {
	all := map[types.UID]int{}
	for uid, p := range a.pods {
		if p.succeeded {
			all[uid] = p.index
		}
	}
	return all
}
