package users

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// meddle changes something in a Job's status, as another controller or a user might. It changes only what the server
// accepts, and never which pods are counted.
func (u *Users) meddle(j *batchv1.Job) {
	s := &j.Status
	switch u.cfg.Rand.IntN(6) {
	case 0:
		u.setCondition(s, "example.com/Noted", corev1.ConditionTrue)
	case 1: // a condition with status False has no effect (J-044)
		kinds := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet, batchv1.JobFailed}
		if kind := kinds[u.cfg.Rand.IntN(len(kinds))]; !hasCondition(s, kind) {
			u.setCondition(s, kind, corev1.ConditionFalse)
		}
	case 2: // add the condition FailureTarget or SuccessCriteriaMet, with which the Job ends
		kinds := []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet}
		if !slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool {
			return slices.Contains(kinds, c.Type) && c.Status == corev1.ConditionTrue
		}) {
			u.setCondition(s, kinds[u.cfg.Rand.IntN(len(kinds))], corev1.ConditionTrue)
		}
	case 3:
		u.setCondition(s, batchv1.JobSuspended, []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}[u.cfg.Rand.IntN(2)])
	case 4:
		if s.StartTime == nil {
			s.StartTime = &metav1.Time{Time: u.cfg.Server.Clock().Now().Add(-time.Duration(u.cfg.Rand.IntN(30)) * time.Second)}
		} else if j.Spec.Suspend != nil && *j.Spec.Suspend {
			s.StartTime = nil
		}
	case 5:
		s.Ready, s.Terminating = nil, nil
		if l := s.UncountedTerminatedPods; l != nil && len(l.Succeeded)+len(l.Failed) == 0 {
			s.UncountedTerminatedPods = nil
		}
		s.Active = u.cfg.Rand.Int32N(4)
	}
}

func hasCondition(s *batchv1.JobStatus, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(s.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind })
}

func (u *Users) setCondition(s *batchv1.JobStatus, kind batchv1.JobConditionType, status corev1.ConditionStatus) {
	now := metav1.NewTime(u.cfg.Server.Clock().Now())
	made := batchv1.JobCondition{
		Type: kind, Status: status, Reason: "ByHand", Message: "set by hand", LastTransitionTime: now, LastProbeTime: now,
	}
	for i := range s.Conditions {
		if s.Conditions[i].Type == kind {
			s.Conditions[i] = made
			return
		}
	}
	s.Conditions = append(s.Conditions, made)
}
