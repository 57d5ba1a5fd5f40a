package invariants

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
	"github.com/jobledger/jobledger/internal/dev/sim/podfailure"
)

// A status write names the version of the Job on which it was decided, and the server accepts only the newest version.
// So the checks below can compare the end of a Job with exactly this spec, and with what the write publishes.

// checkVerdict checks that a Job ends for a reason that its pods, its spec and the clock confirm (J-159), and that it
// is ended when its published status says that it has failed. Call it before the write's pods are accounted for.
func (c *Checker) checkVerdict(w apiserver.Write, j *job, before, after *batchv1.Job) {
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if cond := condition(after, kind); cond != nil && !isTrue(before, kind) {
			if wrong := c.unproven(j, before, after, cond); wrong != "" {
				c.report("J-159", w.Version, j, nil, "it ends for the reason %s: %s", cond.Reason, wrong)
			}
			if wrong := overdue(after); wrong != "" && kind == batchv1.JobSuccessCriteriaMet {
				c.report("J-143", w.Version, j, nil, "it succeeds, though %s", wrong)
			}
			return
		}
	}
	if isTrue(after, batchv1.JobSuccessCriteriaMet) || isTrue(after, batchv1.JobFailureTarget) {
		return // the Job already ends: the first verdict counts (J-143)
	}
	// The Job must not go on after its failure. An exception: while it may still adopt pods, it decides no failure
	// (J-018).
	if wrong := overdue(after); wrong != "" && !c.adopting(j) {
		c.report("J-159", w.Version, j, nil, "it goes on, though %s", wrong)
	}
}

// overdue returns why a Job with this published status must have failed; empty if it need not.
func overdue(after *batchv1.Job) string {
	failed, most := failedSet(after), after.Spec.MaxFailedIndexes
	switch n := after.Status.Failed + int32(len(lists(after).Failed)); {
	case n > backoffLimit(after):
		return fmt.Sprintf("%d pods have failed, and the limit is %d (J-112)", n, backoffLimit(after))
	case most != nil && len(failed) > int(*most):
		return fmt.Sprintf("%d indexes have failed, and the limit is %d (J-123)", len(failed), *most)
	case len(failed) > 0 && len(failed)+len(completedSet(after)) >= int(*after.Spec.Completions):
		return fmt.Sprintf("no index is left to run and %q have failed (J-124)", *after.Status.FailedIndexes)
	}
	return ""
}

// unproven checks the reason for which a Job ends. It returns what contradicts the reason; empty if nothing does.
func (c *Checker) unproven(j *job, before, after *batchv1.Job, cond *batchv1.JobCondition) string {
	spec, s := &after.Spec, &after.Status
	completed, failed := completedSet(after), failedSet(after)
	switch cond.Reason {
	case batchv1.JobReasonBackoffLimitExceeded:
		limit, restarts := backoffLimit(after), restarts(j)
		if n := c.mostFailed(j, before); n <= limit && !(restarts > 0 && restarts >= limit) {
			return fmt.Sprintf("only %d pods have failed, with %d restarts, the limit is %d (J-112, J-113)", n, restarts, limit)
		}
	case batchv1.JobReasonDeadlineExceeded:
		if spec.ActiveDeadlineSeconds == nil || s.StartTime == nil || spec.Suspend != nil && *spec.Suspend ||
			c.elapsed(j, s.StartTime.Time, cond.LastTransitionTime.Time) < time.Duration(*spec.ActiveDeadlineSeconds)*time.Second {
			return fmt.Sprintf("it began at %s and it is %s (J-146)", s.StartTime, cond.LastTransitionTime)
		}
	case batchv1.JobReasonPodFailurePolicy:
		for _, p := range j.pods {
			if v := podfailure.Judge(after, p.now); p.now.Status.Phase == corev1.PodFailed && v.Action == batchv1.PodFailurePolicyActionFailJob && v.Message == cond.Message {
				if p.droppedBy == c.cfg.Actor && p.accounted(j) == unaccounted {
					return fmt.Sprintf("the controller had removed the pod uncounted, whose end is %q (J-133)", cond.Message)
				}
				return ""
			}
		}
		return fmt.Sprintf("no pod failed so that %q (J-132)", cond.Message)
	case batchv1.JobReasonMaxFailedIndexesExceeded:
		if spec.MaxFailedIndexes == nil || len(failed) <= int(*spec.MaxFailedIndexes) {
			return fmt.Sprintf("%d indexes have failed (J-123)", len(failed))
		}
	case batchv1.JobReasonFailedIndexes:
		if len(failed) == 0 || len(failed)+len(completed) < int(*spec.Completions) {
			return fmt.Sprintf("%d indexes have failed, %d completed, of %d (J-124)", len(failed), len(completed), *spec.Completions)
		}
	case batchv1.JobReasonSuccessPolicy:
		return successUnproven(after, cond)
	case batchv1.JobReasonCompletionsReached:
		return completionUnproven(j, after)
	default:
		return "there is no such reason"
	}
	return ""
}

// maxListed is the largest number of pods in the uncounted lists of one status write (J-092). With 700 pods that ended
// at once, 200 wait for the next write.
const maxListed = 500

// completionUnproven checks that a Job may complete (J-160). If the lists of uncounted pods are full, pods that have
// succeeded wait for the next write and count too (J-162).
func completionUnproven(j *job, after *batchv1.Job) string {
	s, l := &after.Status, lists(after)
	succeeded := s.Succeeded + int32(len(l.Succeeded))
	if len(l.Succeeded)+len(l.Failed) >= maxListed {
		succeeded += unlisted(j, l.Succeeded)
	}
	if indexed(after) {
		succeeded = int32(len(completedSet(after)))
	}
	switch wanted := after.Spec.Completions; {
	case s.Active > 0:
		return fmt.Sprintf("%d pods are active (J-160)", s.Active)
	case wanted == nil && succeeded == 0:
		return "no pod has succeeded (J-160)"
	case wanted != nil && succeeded < *wanted:
		return fmt.Sprintf("%d of %d have succeeded (J-160)", succeeded, *wanted)
	}
	return ""
}

// unlisted returns how many pods of a Job have succeeded and are in no counter and not in list (UIDs of uncounted
// pods).
func unlisted(j *job, list []types.UID) (n int32) {
	listed := map[types.UID]bool{}
	for _, uid := range list {
		listed[uid] = true
	}
	for _, p := range j.pods {
		if p.now.Status.Phase == corev1.PodSucceeded && p.tracked && p.accounted(j) == unaccounted && !listed[p.uid] {
			n++
		}
	}
	return n
}

// successUnproven checks that the condition's message names the first rule of the success policy that the completed
// indexes fulfil (J-139, J-140).
func successUnproven(after *batchv1.Job, cond *batchv1.JobCondition) string {
	if after.Spec.SuccessPolicy == nil {
		return "it has no success policy"
	}
	completed := completedSet(after)
	for i, r := range after.Spec.SuccessPolicy.Rules {
		met, required := len(completed), -1
		if r.SucceededIndexes != nil {
			// No check against completions, which a user may have lowered since.
			set, err := apiserver.IndexSet(*r.SucceededIndexes, 1<<30)
			if err != nil {
				continue
			}
			met, required = 0, len(set)
			for k := range set {
				if completed[k] {
					met++
				}
			}
		}
		if met == required || r.SucceededCount != nil && met >= int(*r.SucceededCount) {
			if want := fmt.Sprintf("Matched rules at index %d", i); cond.Message != want {
				return fmt.Sprintf("it says %q, but %s (J-140)", cond.Message, want)
			}
			return ""
		}
	}
	return fmt.Sprintf("no rule is met by %q (J-139)", after.Status.CompletedIndexes)
}

// mostFailed returns the largest number of failed pods that the controller may know of: those that the status counts or
// lists, and failed pods for which it does not account yet.
func (c *Checker) mostFailed(j *job, before *batchv1.Job) int32 {
	n := before.Status.Failed + int32(len(lists(before).Failed))
	for _, p := range j.pods {
		failed := p.now.Status.Phase == corev1.PodFailed || p.deletedBy != "" && !failedOnly(before)
		if p.accounted(j) == unaccounted && failed && (p.ended || p.tracked) && !podfailure.Ignored(before, p.now) {
			n++
		}
	}
	return n
}

// restarts returns the largest number of restarts of containers in running pods that the controller may know of
// (J-113). A pod that has ended is included until the status accounts for it, with its restarts before the end.
func restarts(j *job) int32 {
	if j.now.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return 0
	}
	sum := int32(0)
	for _, p := range j.pods {
		if p.accounted(j) != unaccounted {
			continue
		}
		most := int32(0)
		for _, v := range p.versions {
			if n := restartsOf(v); !apiserver.PodTerminal(v) {
				most = max(most, n)
			}
		}
		sum += most
	}
	return sum
}

func restartsOf(p *corev1.Pod) (n int32) {
	for _, statuses := range [][]corev1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for i := range statuses {
			n += statuses[i].RestartCount
		}
	}
	return n
}

// adopting reports whether there was ever a pod without an owner that the Job selects, so that the Job may be about to
// adopt it.
func (c *Checker) adopting(j *job) bool {
	for _, p := range c.pods {
		if p.key.Namespace == j.key.Namespace && slices.ContainsFunc(p.versions, func(v *corev1.Pod) bool {
			return apiserver.ControllerOf(v) == "" && apiserver.Selects(j.now, v.Labels)
		}) {
			return true
		}
	}
	return false
}

// checkFailedIndexes checks that an index enters failedIndexes only if a pod of it reached the limit of failures, and
// that it stays there (J-116, J-117). An index whose last allowed pod is accounted for as failed must be there.
func (c *Checker) checkFailedIndexes(w apiserver.Write, j *job, before, after *batchv1.Job) {
	was, is, completed := failedSet(before), failedSet(after), completedSet(after)
	exhausted := map[int32]bool{}
	for _, p := range j.sortedPods() {
		all, sure := p.indexes(after)
		if len(all) == 0 || !podfailure.Exhausts(after, p.now) {
			continue
		}
		failed := p.ended && (p.now.Status.Phase == corev1.PodFailed || p.deletedBy != "" && !failedOnly(after))
		if isTrue(before, batchv1.JobFailureTarget) {
			// If the Job was failing already, a pod counts against its index only if it failed before its deletion,
			// because a failing Job deletes its pods.
			failed = failed && p.failedBeforeDeletion()
		}
		for _, i := range all {
			exhausted[i] = exhausted[i] || failed || was[i]
		}
		i := all[0]
		if e := p.accounted(j); sure && (e == inFailed || e == countedFailed) && !is[i] && !completed[i] && !j.resized && !isTrue(after, batchv1.JobFailureTarget) {
			c.report("J-116", w.Version, j, p, "it is accounted for and the last that index %d may lose, but failedIndexes is %q", i, *after.Status.FailedIndexes)
		}
	}
	for i := range is {
		if completed[i] {
			c.report("J-126", w.Version, j, nil, "index %d is both completed and failed", i)
		}
		if !was[i] && !exhausted[i] {
			c.report("J-116", w.Version, j, nil, "index %d is failed, but no pod of it has exhausted its limit", i)
		}
	}
	for i := range was {
		if !is[i] && !j.resized {
			c.report("J-117", w.Version, j, nil, "index %d is no longer failed", i)
		}
	}
}

func condition(j *batchv1.Job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if c := &j.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

func backoffLimit(j *batchv1.Job) int32 {
	if j.Spec.BackoffLimit == nil {
		return 6
	}
	return *j.Spec.BackoffLimit
}

// completedSet and failedSet return the published indexes that are below completions. They return none for a Job
// without completions, and for invalid text.
func completedSet(j *batchv1.Job) map[int32]bool { return publishedSet(j, j.Status.CompletedIndexes) }

func failedSet(j *batchv1.Job) map[int32]bool {
	if j.Status.FailedIndexes == nil {
		return nil
	}
	return publishedSet(j, *j.Status.FailedIndexes)
}

func publishedSet(j *batchv1.Job, text string) map[int32]bool {
	if j.Spec.Completions == nil {
		return nil
	}
	all, err := apiserver.IndexSet(text, 1<<30)
	if err != nil {
		return nil
	}
	for i := range all {
		if i >= *j.Spec.Completions {
			delete(all, i)
		}
	}
	return all
}
