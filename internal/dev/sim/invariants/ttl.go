package invariants

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/internal/dev/sim/apiserver"
)

// checkRemoval checks the deletion of a Job by the controller: it must be in the foreground, and the TTL in the deleted
// version must have passed.
func (c *Checker) checkRemoval(w apiserver.Write, j *job, before, after *batchv1.Job) {
	expiry, ok := expiryOf(before)
	if !ok {
		c.report("T-070", w.Version, j, nil, "the controller deletes a Job that is not to be deleted: unfinished, without a TTL, or on its way already")
		return
	}
	if latest := c.latestShown(j.stored, w.Time); expiry.After(latest) {
		c.report("T-070", w.Version, j, nil, "the controller deletes a Job that expires at %s; its clock showed at most %s", expiry, latest)
	}
	if after == nil || !slices.Contains(after.Finalizers, metav1.FinalizerDeleteDependents) {
		c.report("T-071", w.Version, j, nil, "the controller deletes a Job, and not in the foreground")
	}
}

// settledExpired checks that no finished Job with a TTL is left. It is called when nothing is due any more, so every
// TTL has passed.
func (c *Checker) settledExpired(version uint64, j *job) {
	if !c.cfg.DeletesExpired {
		return
	}
	if expiry, ok := expiryOf(j.now); ok {
		c.report("T-072", version, j, nil, "the Job expired at %s, and nothing is going to delete it", expiry)
	}
}

// latestShown returns the latest time that the controller's clock, which may be wrong, showed between from and to.
func (c *Checker) latestShown(from, to time.Time) time.Time {
	offset, latest := time.Duration(0), time.Time{}
	for _, s := range c.clock {
		if s.since.After(to) {
			break
		}
		if shown := s.since.Add(offset); !s.since.Before(from) && shown.After(latest) {
			latest = shown
		}
		offset = s.offset
	}
	if shown := to.Add(offset); shown.After(latest) {
		latest = shown
	}
	return latest
}

// expiryOf returns when the Job's TTL passes (T-020, T-021); false if the Job is not to be deleted (T-003, T-004,
// T-025).
func expiryOf(j *batchv1.Job) (time.Time, bool) {
	if j.DeletionTimestamp != nil || j.Spec.TTLSecondsAfterFinished == nil {
		return time.Time{}, false
	}
	for _, cond := range j.Status.Conditions {
		if (cond.Type == batchv1.JobComplete || cond.Type == batchv1.JobFailed) && cond.Status == corev1.ConditionTrue {
			return cond.LastTransitionTime.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second), !cond.LastTransitionTime.IsZero()
		}
	}
	return time.Time{}, false
}

// expired reports whether a Job was deleted in the foreground, as after its TTL.
func expired(after *batchv1.Job) bool {
	return after != nil && slices.Contains(after.Finalizers, metav1.FinalizerDeleteDependents)
}
