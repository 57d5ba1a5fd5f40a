package jobstatus

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// Breach is a rule of the Job contract that a status breaks, and a description of what is wrong.
type Breach struct{ Rule, What string }

// Breaches returns the rules that the status of after breaks, by itself or compared with before, the version in front
// of it. before is nil for the first status of a Job.
func Breaches(before, after *batchv1.Job) []Breach {
	j := judge{before: before, after: after}
	if ready := after.Status.Ready; ready != nil && *ready > after.Status.Active {
		j.breach("J-027", "%d ready of %d active", *ready, after.Status.Active)
	}
	j.conditions()
	j.ends(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	j.ends(batchv1.JobFailureTarget, batchv1.JobFailed)
	if before != nil {
		j.conditionsStay()
		j.suspension()
	}
	return j.found
}

type judge struct {
	before, after *batchv1.Job
	found         []Breach
}

func (j *judge) breach(rule, format string, args ...any) {
	j.found = append(j.found, Breach{rule, fmt.Sprintf(format, args...)})
}

func (j *judge) conditions() {
	seen := map[batchv1.JobConditionType]bool{}
	for _, c := range j.after.Status.Conditions {
		if seen[c.Type] {
			j.breach("J-044", "condition %s twice", c.Type)
		}
		seen[c.Type] = true
	}
}

// ends checks that a terminal condition (Complete, Failed) stands after its interim one (SuccessCriteriaMet,
// FailureTarget) and repeats its reason and message. If another client had set the terminal condition to False, the
// controller overwrites it in its place (J-044), so the order is not checked.
func (j *judge) ends(interim, terminal batchv1.JobConditionType) {
	begin, end := place(j.after, interim), place(j.after, terminal)
	if end < 0 || j.after.Status.Conditions[end].Status != corev1.ConditionTrue {
		return
	}
	if begin < 0 || j.after.Status.Conditions[begin].Status != corev1.ConditionTrue {
		j.breach("J-162", "%s without %s", terminal, interim)
		return
	}
	if begin > end && (j.before == nil || place(j.before, terminal) < 0) {
		j.breach("J-162", "%s stands after %s", interim, terminal)
	}
	if b, e := &j.after.Status.Conditions[begin], &j.after.Status.Conditions[end]; b.Reason != e.Reason || b.Message != e.Message {
		j.breach("J-162", "%s says %s, %q, %s says %s, %q", interim, b.Reason, b.Message, terminal, e.Reason, e.Message)
	}
}

// conditionsStay checks that no condition is removed (J-044), that only Suspended may stop being True (J-213, J-214),
// and that a condition changes only if its status, reason or message changes (J-045).
func (j *judge) conditionsStay() {
	for _, was := range j.before.Status.Conditions {
		at := place(j.after, was.Type)
		if at < 0 {
			j.breach("J-044", "condition %s is lost", was.Type)
			continue
		}
		is := j.after.Status.Conditions[at]
		switch {
		case was.Status == corev1.ConditionTrue && is.Status != corev1.ConditionTrue && was.Type != batchv1.JobSuspended:
			j.breach("J-213, J-214", "condition %s is no longer True", was.Type)
		case was.Status == is.Status && was.Reason == is.Reason && was.Message == is.Message && !equality.Semantic.DeepEqual(was, is):
			j.breach("J-045", "condition %s is rewritten though nothing of it changed", was.Type)
		}
	}
}

// suspension checks that a write that suspends a Job removes its start time, and that a write that resumes a Job sets
// a start time.
func (j *judge) suspension() {
	switch suspended, was := isTrue(j.after, batchv1.JobSuspended), isTrue(j.before, batchv1.JobSuspended); {
	case suspended && !was && j.after.Status.StartTime != nil:
		j.breach("J-148", "suspended, and its start time is still %s", j.after.Status.StartTime)
	case !suspended && was && j.after.Status.StartTime == nil:
		j.breach("J-151", "resumed without a start time")
	}
}

func place(job *batchv1.Job, kind batchv1.JobConditionType) int {
	return slices.IndexFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind })
}

func isTrue(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	at := place(job, kind)
	return at >= 0 && job.Status.Conditions[at].Status == corev1.ConditionTrue
}
