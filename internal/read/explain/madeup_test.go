package explain_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// madeUp is a status that somebody wrote, with an end that nothing led to.
func madeUp(kind, reason string) *events.JobStatus {
	s := &events.JobStatus{StartTime: demoCreated}
	interim := map[string]string{status.Failed: status.FailureTarget, status.Complete: status.SuccessCriteriaMet}[kind]
	for _, k := range []string{interim, kind} {
		s.Conditions = append(s.Conditions, events.JobCondition{Type: k, Status: "True", Reason: reason, Message: "so they say", Since: cronClock("09:00:02")})
	}
	return s
}

// TestAVerdictThatSomebodyWrote: a Job that never had a pod ends, as its status says. Nobody but the status says so.
// Neither the reason is told as a cause, nor is it laid on a controller; and a Job that is over when it is first seen
// has no complete history.
func TestAVerdictThatSomebodyWrote(t *testing.T) {
	for _, row := range []struct {
		kind, reason string
		spec         func(*events.JobSpec)
		says, not    []string
	}{
		{kind: status.Failed, reason: "BackoffLimitExceeded", says: []string{"0 failures, backoffLimit is 6"}, not: []string{"> backoffLimit", ": backoffLimit is"}},
		{kind: status.Failed, reason: "DeadlineExceeded", spec: func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(3600)) },
			says: []string{"activeDeadlineSeconds is 3600"}, not: []string{"3600 passed", "10:00:00"}},
		{kind: status.Failed, reason: "DeadlineExceeded", says: []string{"activeDeadlineSeconds is not set"}, not: []string{"deadline passed"}},
		{kind: status.Failed, reason: "PodFailurePolicy", says: []string{"it has no podFailurePolicy"}, not: []string{"is FailJob"}},
		{kind: status.Failed, reason: "FailedIndexes", says: []string{"0 failed indexes"}, not: []string{"every index has ended"}},
		{kind: status.Failed, reason: "MaxFailedIndexesExceeded", spec: func(s *events.JobSpec) { s.MaxFailedIndexes = new(int32(3)) },
			says: []string{"0 failed indexes, maxFailedIndexes is 3"}, not: []string{"> maxFailedIndexes"}},
		{kind: status.Complete, reason: "CompletionsReached", says: []string{"0 of 1 completion succeeded"}, not: []string{"VERDICT COMPLETE in under 1 s: 0 pods"}},
	} {
		for _, mode := range []struct {
			name  string
			ours  bool
			first bool // the first record of the Job shows the verdict
		}{{"observed at first", false, true}, {"observed later", false, false}, {"ours at first", true, true}, {"ours later", true, false}} {
			t.Run(row.reason+" "+mode.name, func(t *testing.T) {
				l := stage(t, mode.ours, row.spec)
				if !mode.first {
					l.job("09:00:00", nil)
				}
				l.job("09:00:02", madeUp(row.kind, row.reason))
				if !mode.ours && !mode.first {
					l.tell("09:00:20", events.KindWouldDecide, &events.Decision{RulesVersion: 1, Steps: []events.Step{{
						Stage: "outcome", Rule: "observe", Reason: "Unexplained", Sentence: "nothing that was seen of it says so",
					}}}, events.Evidence{})
				}
				said := l.said()
				hold(t, said, append(row.says, "its status says "+row.reason), append(row.not, "by the built-in", "decided by"))
				if mode.first {
					hold(t, said, []string{"HISTORY when it was first seen it had ended"}, []string{"history complete", "RULED OUT"})
				} else if !mode.ours {
					hold(t, said, []string{"nothing that was seen of it says so"}, nil)
				} else {
					hold(t, said, []string{"no decision of Jobledger's"}, nil)
				}
			})
		}
	}
}

// TestAJobThatHadBegun: the first record of a Job shows that it had begun. What came before that was not seen.
func TestAJobThatHadBegun(t *testing.T) {
	for name, first := range map[string]func(*events.JobSeen){
		"it had a start":         func(f *events.JobSeen) { f.Status = &events.JobStatus{StartTime: demoCreated} },
		"it had an active pod":   func(f *events.JobSeen) { f.Status = &events.JobStatus{Active: 1} },
		"a pod had failed":       func(f *events.JobSeen) { f.Status = &events.JobStatus{Failed: 1} },
		"a pod had succeeded":    func(f *events.JobSeen) { f.Status = &events.JobStatus{Succeeded: 1} },
		"it was being deleted":   func(f *events.JobSeen) { f.Deleted = demoCreated },
		"its spec was changed":   func(f *events.JobSeen) { f.Generation = 2 },
		"a pod was not counted":  func(f *events.JobSeen) { f.Status = &events.JobStatus{UncountedFailed: []types.UID{"uid-x0"}} },
		"nothing had happened":   func(*events.JobSeen) {},
		"it was suspended":       func(f *events.JobSeen) { f.Status = suspendedStatus("09:00:00") },
		"its status was touched": func(f *events.JobSeen) { f.Status = &events.JobStatus{Terminating: events.Unset} },
	} {
		t.Run(name, func(t *testing.T) {
			l := stage(t, true, nil)
			l.jobWith("09:00:00", nil, first)
			says, not := []string{"HISTORY when it was first seen"}, []string{"history complete"}
			if name == "nothing had happened" || name == "it was suspended" || name == "its status was touched" {
				says, not = not, says
			}
			hold(t, l.said(), says, not)
		})
	}
}

func suspendedStatus(since string) *events.JobStatus {
	return &events.JobStatus{Conditions: []events.JobCondition{{Type: status.Suspended, Status: "True", Since: cronClock(since)}}}
}
