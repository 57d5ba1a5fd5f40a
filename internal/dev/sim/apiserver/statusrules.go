package apiserver

import (
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// statusUpdate is an update of a Job's status that is to be validated. sent has the spec of stored, because clients
// cannot change it by such an update (J-207).
type statusUpdate struct{ stored, sent *batchv1.Job }

// statusRule is one of the rules of status updates (J-206 to J-238). If applies is nil, the rule always applies.
type statusRule struct {
	id      string
	applies func(statusUpdate) bool
	check   func(statusUpdate) field.ErrorList
}

// statusRules lists the rules in the order of the contract. Two rules are checked elsewhere: J-207 where an update
// begins, J-233 where texts of index sets are parsed.
var statusRules = []statusRule{
	{"J-206", nil, metadataUnchanged},
	{"J-208", nil, countersNotNegative},
	{"J-209", nil, uncountedUIDsDistinct},
	{"J-210", anyChanged(ready, active), readyWithinActive},
	{"J-211", nil, failedNeverDecreases},
	{"J-212", nil, succeededDecreasesOnlyElastic},
	{"J-213", nil, terminalConditionsStay},
	{"J-214", nil, successCriteriaStay},
	{"J-215", anyChanged(complete, failedCondition), notCompleteAndFailed},
	{"J-216", anyChanged(complete, failureTarget), notCompleteAndFailureTarget},
	{"J-217", nil, successCriteriaExcludeFailure},
	{"J-218", anyChanged(failedCondition, failedIndexes), failedNeedsFailureTarget},
	{"J-219", anyChanged(complete, successCriteria), completeNeedsSuccessCriteria},
	{"J-220", nil, successPolicyNeedsSuccessCriteria},
	{"J-221", nil, successCriteriaNotAfterComplete},
	{"J-222", anyChanged(finished, active), finishedHasNoActive},
	{"J-223", anyChanged(finished, terminating), finishedHasNoTerminating},
	{"J-224", anyChanged(finished, uncounted), finishedHasNoUncounted},
	{"J-225", anyChanged(finished, startTime), finishedHasStartTime},
	{"J-226", anyChanged(startTime), startTimeStays},
	{"J-227", anyChanged(complete, completionTime), completionTimeGoesWithComplete},
	{"J-228", nil, completionTimeNeverChanges},
	{"J-229", anyChanged(startTime, completionTime), completionNotBeforeStart},
	{"J-230", anyChanged(completedIndexes), completedIndexesWellFormed},
	{"J-231", anyChanged(failedIndexes), failedIndexesWellFormed},
	{"J-232", anyChanged(completedIndexes, failedIndexes), indexSetsDisjoint},
}

// validateStatusUpdate returns the errors of an update of the status subresource, by all rules.
func validateStatusUpdate(stored, sent *batchv1.Job) field.ErrorList {
	u := statusUpdate{stored, sent}
	var errs field.ErrorList
	for _, rule := range statusRules {
		if rule.applies == nil || rule.applies(u) {
			errs = append(errs, rule.check(u)...)
		}
	}
	return errs
}

// part is a function that returns one field, or one condition, of a Job's status. Some rules apply only to updates
// that change certain parts.
type part func(*batchv1.Job) any

// anyChanged returns a function that reports whether an update changes at least one of the parts. It is the condition
// of rules that apply only then.
func anyChanged(parts ...part) func(statusUpdate) bool {
	return func(u statusUpdate) bool {
		for _, of := range parts {
			if !equality.Semantic.DeepEqual(of(u.stored), of(u.sent)) {
				return true
			}
		}
		return false
	}
}

func ready(j *batchv1.Job) any            { return j.Status.Ready }
func active(j *batchv1.Job) any           { return j.Status.Active }
func terminating(j *batchv1.Job) any      { return j.Status.Terminating }
func uncounted(j *batchv1.Job) any        { return j.Status.UncountedTerminatedPods }
func startTime(j *batchv1.Job) any        { return j.Status.StartTime }
func completionTime(j *batchv1.Job) any   { return j.Status.CompletionTime }
func completedIndexes(j *batchv1.Job) any { return j.Status.CompletedIndexes }
func failedIndexes(j *batchv1.Job) any    { return j.Status.FailedIndexes }
func finished(j *batchv1.Job) any         { return JobFinished(j) }
func complete(j *batchv1.Job) any         { return conditionTrue(&j.Status, batchv1.JobComplete) }
func failedCondition(j *batchv1.Job) any  { return conditionTrue(&j.Status, batchv1.JobFailed) }
func failureTarget(j *batchv1.Job) any    { return conditionTrue(&j.Status, batchv1.JobFailureTarget) }
func successCriteria(j *batchv1.Job) any {
	return conditionTrue(&j.Status, batchv1.JobSuccessCriteriaMet)
}

var (
	statusPath     = field.NewPath("status")
	conditionsPath = statusPath.Child("conditions")
)

func (u statusUpdate) is(kind batchv1.JobConditionType) bool {
	return conditionTrue(&u.sent.Status, kind)
}

func (u statusUpdate) was(kind batchv1.JobConditionType) bool {
	return conditionTrue(&u.stored.Status, kind)
}

// refuseIf returns, if bad is true, the error that the field at path has this value, because of why.
func refuseIf(bad bool, path *field.Path, value any, why string) field.ErrorList {
	if !bad {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, why)}
}
