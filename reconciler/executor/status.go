package executor

import (
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/jobledger/jobledger/events"
)

// apiStatus converts a status from the log's type to the API type. stored are the conditions in the Job object. If a
// condition has not changed, it is written back as it is in stored: the log may have only the beginning of its message,
// or none after an erasure.
func apiStatus(s *events.JobStatus, stored []batchv1.JobCondition) batchv1.JobStatus {
	out := batchv1.JobStatus{
		Active: s.Active, Succeeded: s.Succeeded, Failed: s.Failed,
		Ready: set(s.Ready), Terminating: set(s.Terminating),
		CompletedIndexes: s.CompletedIndexes, FailedIndexes: s.FailedIndexes,
		StartTime: second(s.StartTime), CompletionTime: second(s.CompletionTime),
	}
	if s.HasUncounted {
		out.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{
			Succeeded: s.UncountedSucceeded, Failed: s.UncountedFailed,
		}
	}
	for _, c := range s.Conditions {
		condition := apiCondition(c)
		if k := slices.IndexFunc(stored, func(old batchv1.JobCondition) bool { return same(old, condition) }); k >= 0 {
			condition = stored[k]
		}
		out.Conditions = append(out.Conditions, condition)
	}
	return out
}

func apiCondition(c events.JobCondition) batchv1.JobCondition {
	return batchv1.JobCondition{
		Type: batchv1.JobConditionType(c.Type), Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message,
		LastTransitionTime: metav1.NewTime(c.Since.Second().Go()), LastProbeTime: metav1.NewTime(c.Probed.Second().Go()),
	}
}

// same reports whether c, a condition from the log, is the condition stored in the Job object. The log may have cut its
// texts.
func same(stored, c batchv1.JobCondition) bool {
	return stored.Type == c.Type && stored.Status == c.Status &&
		stored.LastTransitionTime.Unix() == c.LastTransitionTime.Unix() &&
		stored.LastProbeTime.Unix() == c.LastProbeTime.Unix() &&
		begins(stored.Reason, c.Reason) && begins(stored.Message, c.Message)
}

func begins(whole, s string) bool {
	return whole == s || strings.HasPrefix(whole, strings.TrimSuffix(s, cutMark))
}

func set(n int32) *int32 {
	if n == events.Unset {
		return nil
	}
	return &n
}

// second returns the time in whole seconds, the precision of the API server (J-235).
func second(t events.Time) *metav1.Time {
	if t == 0 {
		return nil
	}
	at := metav1.NewTime(t.Second().Go())
	return &at
}
