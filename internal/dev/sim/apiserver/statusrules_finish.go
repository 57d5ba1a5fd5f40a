package apiserver

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// terminalConditionsStay checks (J-213) that Complete, Failed and FailureTarget stay True once they are True.
func terminalConditionsStay(u statusUpdate) field.ErrorList {
	var errs field.ErrorList
	for _, kind := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobFailureTarget} {
		errs = append(errs, refuseIf(u.was(kind) && !u.is(kind), conditionsPath, kind, "cannot disable the condition once it is True")...)
	}
	return errs
}

// successCriteriaStay checks (J-214) that SuccessCriteriaMet stays True once it is True.
func successCriteriaStay(u statusUpdate) field.ErrorList {
	return refuseIf(u.was(batchv1.JobSuccessCriteriaMet) && !u.is(batchv1.JobSuccessCriteriaMet),
		conditionsPath, batchv1.JobSuccessCriteriaMet, "cannot disable the condition once it is True")
}

// notCompleteAndFailed checks (J-215) that a Job is not both Complete=True and Failed=True.
func notCompleteAndFailed(u statusUpdate) field.ErrorList {
	return refuseIf(u.is(batchv1.JobComplete) && u.is(batchv1.JobFailed), conditionsPath, batchv1.JobComplete, "cannot set Complete=True and Failed=True")
}

// notCompleteAndFailureTarget checks (J-216) that a Job is not both Complete=True and FailureTarget=True.
func notCompleteAndFailureTarget(u statusUpdate) field.ErrorList {
	return refuseIf(u.is(batchv1.JobComplete) && u.is(batchv1.JobFailureTarget), conditionsPath, batchv1.JobComplete, "cannot set Complete=True and FailureTarget=True")
}

// successCriteriaExcludeFailure checks (J-217) that a Job with SuccessCriteriaMet=True has neither Failed=True nor
// FailureTarget=True.
func successCriteriaExcludeFailure(u statusUpdate) field.ErrorList {
	return refuseIf(u.is(batchv1.JobSuccessCriteriaMet) && (u.is(batchv1.JobFailed) || u.is(batchv1.JobFailureTarget)),
		conditionsPath, batchv1.JobSuccessCriteriaMet, "cannot set SuccessCriteriaMet=True with Failed=True or FailureTarget=True")
}

// failedNeedsFailureTarget checks (J-218) that a Job with Failed=True has FailureTarget=True.
func failedNeedsFailureTarget(u statusUpdate) field.ErrorList {
	return refuseIf(u.is(batchv1.JobFailed) && !u.is(batchv1.JobFailureTarget), conditionsPath, batchv1.JobFailed, "cannot set Failed=True condition without the FailureTarget=True condition")
}

// completeNeedsSuccessCriteria checks (J-219) that a Job with Complete=True has SuccessCriteriaMet=True.
func completeNeedsSuccessCriteria(u statusUpdate) field.ErrorList {
	return refuseIf(u.is(batchv1.JobComplete) && !u.is(batchv1.JobSuccessCriteriaMet), conditionsPath, batchv1.JobComplete, "cannot set Complete=True condition without the SuccessCriteriaMet=True condition")
}

// successPolicyNeedsSuccessCriteria checks (J-220) the same as completeNeedsSuccessCriteria, but in every update of a
// Job with a successPolicy.
func successPolicyNeedsSuccessCriteria(u statusUpdate) field.ErrorList {
	if u.stored.Spec.SuccessPolicy == nil {
		return nil
	}
	return completeNeedsSuccessCriteria(u)
}

// successCriteriaNotAfterComplete checks (J-221) that SuccessCriteriaMet is not added to a Job that is Complete
// already.
func successCriteriaNotAfterComplete(u statusUpdate) field.ErrorList {
	return refuseIf(u.was(batchv1.JobComplete) && !u.was(batchv1.JobSuccessCriteriaMet) && u.is(batchv1.JobSuccessCriteriaMet),
		conditionsPath, batchv1.JobSuccessCriteriaMet, "cannot set SuccessCriteriaMet=True for an already Complete Job")
}

// finishedHasNoActive checks (J-222) that a finished Job has no active pods.
func finishedHasNoActive(u statusUpdate) field.ErrorList {
	return refuseIf(JobFinished(u.sent) && u.sent.Status.Active != 0, statusPath.Child("active"), u.sent.Status.Active, "active>0 is invalid for finished job")
}

// finishedHasNoTerminating checks (J-223) that a finished Job has no terminating pods; nil counts as none.
func finishedHasNoTerminating(u statusUpdate) field.ErrorList {
	t := u.sent.Status.Terminating
	return refuseIf(JobFinished(u.sent) && t != nil && *t != 0, statusPath.Child("terminating"), t, "terminating>0 is invalid for finished job")
}

// finishedHasNoUncounted checks (J-224) that a finished Job has no uncounted pods; nil lists count as empty.
func finishedHasNoUncounted(u statusUpdate) field.ErrorList {
	lists := u.sent.Status.UncountedTerminatedPods
	return refuseIf(JobFinished(u.sent) && lists != nil && len(lists.Succeeded)+len(lists.Failed) > 0,
		statusPath.Child("uncountedTerminatedPods"), lists, "uncountedTerminatedPods needs to be empty for finished job")
}

// finishedHasStartTime checks (J-225) that a finished Job has a startTime, unless it is suspended and has completions
// 0.
func finishedHasStartTime(u statusUpdate) field.ErrorList {
	excused := suspended(&u.stored.Spec) && u.stored.Spec.Completions != nil && *u.stored.Spec.Completions == 0
	return refuseIf(JobFinished(u.sent) && u.sent.Status.StartTime == nil && !excused,
		statusPath.Child("startTime"), "", "startTime is required for finished job")
}

// startTimeStays checks (J-226) that a stored startTime does not change and is not removed while spec.suspend is false,
// except by the write that changes Suspended from True to False.
func startTimeStays(u statusUpdate) field.ErrorList {
	resumes := u.was(batchv1.JobSuspended) && conditionFalse(&u.sent.Status, batchv1.JobSuspended)
	return refuseIf(u.stored.Status.StartTime != nil && !suspended(&u.stored.Spec) && !resumes,
		statusPath.Child("startTime"), u.sent.Status.StartTime, "cannot modify startTime for unsuspended job")
}

// completionTimeGoesWithComplete checks (J-227) that a Job has a completionTime exactly if it has Complete=True.
func completionTimeGoesWithComplete(u statusUpdate) field.ErrorList {
	is, path := u.is(batchv1.JobComplete), statusPath.Child("completionTime")
	if u.sent.Status.CompletionTime == nil {
		return refuseIf(is, path, "", "completionTime is required for Complete jobs")
	}
	return refuseIf(!is, path, u.sent.Status.CompletionTime, "completionTime cannot be set for non-complete jobs")
}

// completionTimeNeverChanges checks (J-228) that a stored completionTime does not change and is not removed.
func completionTimeNeverChanges(u statusUpdate) field.ErrorList {
	stored, sent := u.stored.Status.CompletionTime, u.sent.Status.CompletionTime
	return refuseIf(stored != nil && !equality.Semantic.DeepEqual(stored, sent),
		statusPath.Child("completionTime"), sent, "completionTime cannot be modified")
}

// completionNotBeforeStart checks (J-229) that completionTime is not before startTime.
func completionNotBeforeStart(u statusUpdate) field.ErrorList {
	s := &u.sent.Status
	return refuseIf(s.StartTime != nil && s.CompletionTime != nil && s.CompletionTime.Before(s.StartTime),
		statusPath.Child("completionTime"), s.CompletionTime, "completionTime cannot be set before startTime")
}

func suspended(s *batchv1.JobSpec) bool { return s.Suspend != nil && *s.Suspend }
