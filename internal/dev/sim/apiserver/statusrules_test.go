package apiserver

import (
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// edit changes a Job on its way into a row.
type edit func(*batchv1.Job)

func edits(list ...edit) edit {
	return func(j *batchv1.Job) {
		for _, e := range list {
			e(j)
		}
	}
}

var (
	start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at    = func(s int) *metav1.Time { t := metav1.NewTime(start.Add(time.Duration(s) * time.Second)); return &t }
)

func with(kind batchv1.JobConditionType) edit    { return condition(kind, corev1.ConditionTrue) }
func without(kind batchv1.JobConditionType) edit { return condition(kind, corev1.ConditionFalse) }

func condition(kind batchv1.JobConditionType, status corev1.ConditionStatus) edit {
	return func(j *batchv1.Job) {
		j.Status.Conditions = slices.DeleteFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind })
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: status})
	}
}

func status(set func(*batchv1.JobStatus)) edit { return func(j *batchv1.Job) { set(&j.Status) } }
func spec(set func(*batchv1.JobSpec)) edit     { return func(j *batchv1.Job) { set(&j.Spec) } }

var (
	nothing     = func(*batchv1.Job) {}
	indexed     = spec(func(s *batchv1.JobSpec) { s.CompletionMode = new(batchv1.IndexedCompletion) })
	perIndex    = edits(indexed, spec(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(1)) }))
	isSuspended = spec(func(s *batchv1.JobSpec) { s.Suspend = new(true) })
	completed   = edits(with(batchv1.JobSuccessCriteriaMet), with(batchv1.JobComplete), status(func(s *batchv1.JobStatus) { s.CompletionTime = at(9) }))
	hasFailed   = edits(with(batchv1.JobFailureTarget), with(batchv1.JobFailed))
	noStart     = status(func(s *batchv1.JobStatus) { s.StartTime = nil })
)

func uids(succeeded, failed []types.UID) edit {
	return status(func(s *batchv1.JobStatus) {
		s.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{Succeeded: succeeded, Failed: failed}
	})
}

// Each row cites the rule that it covers. All rules accept the update; with the other sent status, at least this rule
// refuses it.
//
//conformance:fact the simulated API server, held against the real one, refuses a status unless %s
var statusRows = []struct {
	rule, name string
	stored     edit
	accepted   edit
	refused    edit
}{
	{"J-206", "an update carries the resource version it was read at", nothing, nothing, func(j *batchv1.Job) { j.ResourceVersion = "" }},
	{"J-206", "an update keeps the UID", nothing, nothing, func(j *batchv1.Job) { j.UID = "other" }},
	{"J-206", "an update keeps the creation time", nothing, nothing, func(j *batchv1.Job) { j.CreationTimestamp = *at(7) }},
	{"J-206", "a deleting Job gets no new finalizer", func(j *batchv1.Job) { j.DeletionTimestamp = at(3); j.Finalizers = []string{"a/b"} },
		func(j *batchv1.Job) { j.Finalizers = nil }, func(j *batchv1.Job) { j.Finalizers = append(j.Finalizers, "c/d") }},
	{"J-208", "active is not negative", nothing, nothing, status(func(s *batchv1.JobStatus) { s.Active = -1; s.Ready = nil })},
	{"J-208", "succeeded is not negative", nothing, nothing, status(func(s *batchv1.JobStatus) { s.Succeeded = -1 })},
	{"J-208", "failed is not negative", nothing, nothing, status(func(s *batchv1.JobStatus) { s.Failed = -1 })},
	{"J-208", "ready is not negative", nothing, nothing, status(func(s *batchv1.JobStatus) { s.Ready = new(int32(-1)) })},
	{"J-208", "terminating is not negative", nothing, nothing, status(func(s *batchv1.JobStatus) { s.Terminating = new(int32(-1)) })},
	{"J-209", "no uncounted UID is empty", nothing, uids([]types.UID{"a"}, []types.UID{"b"}), uids([]types.UID{""}, nil)},
	{"J-209", "no UID twice in a list", nothing, uids([]types.UID{"a", "b"}, nil), uids([]types.UID{"a", "a"}, nil)},
	{"J-209", "no UID in both lists", nothing, uids([]types.UID{"a"}, []types.UID{"b"}), uids([]types.UID{"a"}, []types.UID{"a"})},
	{"J-210", "ready is at most active", nothing, status(func(s *batchv1.JobStatus) { s.Active, s.Ready = 2, new(int32(2)) }),
		status(func(s *batchv1.JobStatus) { s.Active, s.Ready = 2, new(int32(3)) })},
	{"J-211", "failed does not decrease", status(func(s *batchv1.JobStatus) { s.Failed = 3 }), status(func(s *batchv1.JobStatus) { s.Failed = 4 }),
		status(func(s *batchv1.JobStatus) { s.Failed = 2 })},
	{"J-212", "succeeded does not decrease in a NonIndexed Job", status(func(s *batchv1.JobStatus) { s.Succeeded = 3 }), nothing,
		status(func(s *batchv1.JobStatus) { s.Succeeded = 2 })},
	{"J-212", "succeeded does not decrease when completions differ from parallelism",
		edits(indexed, spec(func(s *batchv1.JobSpec) { s.Parallelism = new(int32(2)) }), status(func(s *batchv1.JobStatus) { s.Succeeded = 3 })), nothing,
		status(func(s *batchv1.JobStatus) { s.Succeeded = 2 })},
	{"J-213", "Complete stays True", completed, nothing, without(batchv1.JobComplete)},
	{"J-213", "Failed stays True", hasFailed, nothing, without(batchv1.JobFailed)},
	{"J-213", "FailureTarget stays True", with(batchv1.JobFailureTarget), nothing, without(batchv1.JobFailureTarget)},
	{"J-214", "SuccessCriteriaMet stays True", with(batchv1.JobSuccessCriteriaMet), nothing, without(batchv1.JobSuccessCriteriaMet)},
	{"J-215", "Complete and Failed exclude each other", nothing, completed, edits(completed, hasFailed)},
	{"J-216", "Complete and FailureTarget exclude each other", nothing, completed, edits(completed, with(batchv1.JobFailureTarget))},
	{"J-217", "SuccessCriteriaMet and FailureTarget exclude each other", with(batchv1.JobSuccessCriteriaMet), nothing, with(batchv1.JobFailureTarget)},
	{"J-217", "SuccessCriteriaMet and Failed exclude each other", with(batchv1.JobSuccessCriteriaMet), nothing, with(batchv1.JobFailed)},
	{"J-218", "Failed needs FailureTarget", nothing, hasFailed, with(batchv1.JobFailed)},
	{"J-219", "Complete needs SuccessCriteriaMet", nothing, completed, edits(completed, without(batchv1.JobSuccessCriteriaMet))},
	{"J-220", "with a successPolicy Complete needs SuccessCriteriaMet even when neither changed",
		edits(indexed, spec(func(s *batchv1.JobSpec) {
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: new(int32(1))}}}
		}), with(batchv1.JobComplete), status(func(s *batchv1.JobStatus) { s.CompletionTime = at(9) })),
		nil, nothing},
	{"J-221", "SuccessCriteriaMet is not added after Complete", edits(completed, without(batchv1.JobSuccessCriteriaMet)), nothing, with(batchv1.JobSuccessCriteriaMet)},
	{"J-222", "a finished Job has no active pods", status(func(s *batchv1.JobStatus) { s.Active = 1 }), edits(completed, status(func(s *batchv1.JobStatus) { s.Active = 0 })), completed},
	{"J-223", "a finished Job has no terminating pods", status(func(s *batchv1.JobStatus) { s.Terminating = new(int32(1)) }),
		edits(hasFailed, status(func(s *batchv1.JobStatus) { s.Terminating = new(int32(0)) })), hasFailed},
	{"J-223", "terminating nil counts as none", status(func(s *batchv1.JobStatus) { s.Terminating = new(int32(1)) }),
		edits(hasFailed, status(func(s *batchv1.JobStatus) { s.Terminating = nil })), hasFailed},
	{"J-224", "a finished Job has no uncounted pods", uids([]types.UID{"a"}, nil), edits(completed, uids(nil, nil)), completed},
	{"J-225", "a finished Job has a start time", noStart, edits(completed, status(func(s *batchv1.JobStatus) { s.StartTime = at(1) })), completed},
	{"J-225", "a suspended Job without completions may finish without a start time",
		edits(noStart, isSuspended, spec(func(s *batchv1.JobSpec) { s.Completions = new(int32(0)) })), completed, nil},
	{"J-226", "the start time stays while the Job is not suspended", nothing, nothing, status(func(s *batchv1.JobStatus) { s.StartTime = at(1) })},
	{"J-226", "the start time does not go away while the Job is not suspended", nothing, nothing, noStart},
	{"J-226", "the start time is free while the Job is suspended", isSuspended, noStart, nil},
	{"J-226", "the start time may change with Suspended turning False", with(batchv1.JobSuspended),
		edits(without(batchv1.JobSuspended), status(func(s *batchv1.JobStatus) { s.StartTime = at(5) })), status(func(s *batchv1.JobStatus) { s.StartTime = at(5) })},
	{"J-226", "a first start time is always welcome", noStart, status(func(s *batchv1.JobStatus) { s.StartTime = at(5) }), nil},
	{"J-227", "Complete needs a completion time", nothing, completed, edits(completed, status(func(s *batchv1.JobStatus) { s.CompletionTime = nil }))},
	{"J-227", "a completion time needs Complete", nothing, completed, status(func(s *batchv1.JobStatus) { s.CompletionTime = at(9) })},
	{"J-228", "the completion time does not change", completed, nothing, status(func(s *batchv1.JobStatus) { s.CompletionTime = at(10) })},
	{"J-228", "the completion time does not go away", completed, nothing, status(func(s *batchv1.JobStatus) { s.CompletionTime = nil })},
	{"J-229", "the completion time is not before the start time", nothing, edits(completed, status(func(s *batchv1.JobStatus) { s.CompletionTime = at(0) })),
		edits(completed, status(func(s *batchv1.JobStatus) { s.CompletionTime = at(-1) }))},
	{"J-230", "completed indexes are in order", indexed, status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0,2-4" }),
		status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "2,1" })},
	{"J-230", "only an Indexed Job has completed indexes", nothing, nothing, status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "0" })},
	{"J-231", "failed indexes are below completions", perIndex, status(func(s *batchv1.JobStatus) { s.FailedIndexes = new("4") }),
		status(func(s *batchv1.JobStatus) { s.FailedIndexes = new("5") })},
	{"J-231", "failed indexes need backoffLimitPerIndex", indexed, nothing, status(func(s *batchv1.JobStatus) { s.FailedIndexes = new("") })},
	{"J-232", "no index is both completed and failed", perIndex,
		status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.FailedIndexes = "0-2", new("3") }),
		status(func(s *batchv1.JobStatus) { s.CompletedIndexes, s.FailedIndexes = "0-2", new("2,3") })},
}

// TestStatusRules has a row for each side of each rule.
func TestStatusRules(t *testing.T) {
	covered := map[string]bool{}
	for _, row := range statusRows {
		covered[row.rule] = true
		t.Run(row.rule+" "+row.name, func(t *testing.T) {
			stored := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", UID: "u", ResourceVersion: "7", CreationTimestamp: *at(0)},
				Spec:       batchv1.JobSpec{Completions: new(int32(5)), Parallelism: new(int32(5)), CompletionMode: new(batchv1.NonIndexedCompletion), Suspend: new(false)},
				Status:     batchv1.JobStatus{StartTime: at(0)},
			}
			row.stored(stored)
			if row.accepted != nil {
				sent := stored.DeepCopy()
				row.accepted(sent)
				if errs := validateStatusUpdate(stored, sent); len(errs) > 0 {
					t.Errorf("should be accepted: %v", errs)
				}
			}
			if row.refused != nil {
				sent := stored.DeepCopy()
				row.refused(sent)
				if got := refusing(stored, sent); !slices.Contains(got, row.rule) {
					t.Errorf("refused by %v, want %s among them", got, row.rule)
				}
			}
		})
	}
	for _, rule := range statusRules {
		if !covered[rule.id] {
			t.Errorf("%s has no row", rule.id)
		}
	}
}

// refusing returns the rules that refuse an update.
func refusing(stored, sent *batchv1.Job) []string {
	var ids []string
	u := statusUpdate{stored, sent}
	for _, rule := range statusRules {
		if (rule.applies == nil || rule.applies(u)) && len(rule.check(u)) > 0 {
			ids = append(ids, rule.id)
		}
	}
	return ids
}

// TestStatusRulesThatLookOnlyAtChanges: a stored status that breaks such a rule does not block later updates.
func TestStatusRulesThatLookOnlyAtChanges(t *testing.T) {
	for _, row := range []struct {
		rule, name string
		stored     edit
	}{
		{"J-210", "more ready than active stays possible when neither changes", status(func(s *batchv1.JobStatus) { s.Ready = new(int32(2)) })},
		{"J-219", "a Complete Job without SuccessCriteriaMet", edits(completed, without(batchv1.JobSuccessCriteriaMet))},
		{"J-225", "a finished Job without a start time", edits(completed, noStart)},
		{"J-230", "malformed completed indexes", edits(indexed, status(func(s *batchv1.JobStatus) { s.CompletedIndexes = "9-1" }))},
	} {
		t.Run(row.rule+" "+row.name, func(t *testing.T) {
			stored := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", ResourceVersion: "7"}, Status: batchv1.JobStatus{StartTime: at(0)}}
			row.stored(stored)
			sent := stored.DeepCopy()
			sent.Status.Failed++
			if errs := validateStatusUpdate(stored, sent); len(errs) > 0 {
				t.Errorf("refused: %v", errs)
			}
		})
	}
}

// J-233: index text is read as the API server reads it: in order, without repeats, below completions.
func TestIndexText(t *testing.T) {
	for _, row := range []struct {
		name, text string
		ok         bool
	}{
		{"empty text is the empty set", "", true},
		{"single numbers and ranges mix", "0,2-4,9", true},
		{"a range of two is allowed", "3-4", true},
		{"ranges may touch", "0-2,3-5", true},
		{"a number must be below completions", "10", false},
		{"a range must end below completions", "8-10", false},
		{"a range must increase", "4-2", false},
		{"a range of one is refused", "4-4", false},
		{"two dashes are refused", "1-2-3", false},
		{"order must increase across fragments", "4,3", false},
		{"repeats are refused", "4,4", false},
		{"overlapping ranges are refused", "1-4,4-6", false},
		{"letters are refused", "a", false},
		{"blanks are refused", "1, 2", false},
		{"a trailing comma is refused", "1,", false},
		{"a negative number is refused", "-1", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, err := parseIndexText(row.text, 10); (err == nil) != row.ok {
				t.Errorf("parse %q: %v, want ok=%v", row.text, err, row.ok)
			}
		})
	}
	set, err := IndexSet("1,3-5", 10)
	if err != nil || len(set) != 4 || !set[4] || set[2] {
		t.Errorf("IndexSet = %v, %v", set, err)
	}
}
