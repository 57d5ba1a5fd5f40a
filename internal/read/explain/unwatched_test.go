package explain_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// TestAJobThatEndsUnwatched: of a Job that came to its end while nobody watched it is told what its status shows, and
// what is not known: when its pod ended, and of one that is gone whether it had ended at all, unless only we could have
// ended it.
func TestAJobThatEndsUnwatched(t *testing.T) {
	completes := []string{
		"VERDICT COMPLETE after 5m00s: 1 pod succeeded\n", "WHY 1 of 1 completions succeeded; its status says so",
		"PODS demo-x1 on node-1: gone when it was watched again: whether it had succeeded is unknown, as the status counts",
	}
	for name, row := range map[string]struct {
		found func(l *staged)
		says  map[bool][]string // whether it is ours
		not   []string
	}{
		"it is gone": {func(l *staged) {
			l.tell("09:10:00", events.KindJobDeleted, &events.JobGone{Version: 900, Missed: true}, demoObject)
		}, map[bool][]string{
			false: {"DELETED, found gone 09:10:00: whether it had ended before, when and by whom is unknown, as it was"},
			true:  {"DELETED, found gone 09:10:00: when and by whom is unknown, as it was not watched from 09:00:10"},
		}, []string{"by an API client", "COMPLETE", "after 10m"}},
		"it is Complete, and its pod is gone": {func(l *staged) {
			l.tell("09:10:00", events.KindPodDeleted, &events.PodGone{UID: "uid-x1", Version: 1900, Missed: true}, demoObject)
			done := cronClock("09:05:00")
			l.job("09:10:00", &events.JobStatus{StartTime: demoCreated, CompletionTime: done, Succeeded: 1, Conditions: []events.JobCondition{
				{Type: status.SuccessCriteriaMet, Status: "True", Reason: "CompletionsReached", Since: done},
				{Type: status.Complete, Status: "True", Reason: "CompletionsReached", Since: done},
			}})
		}, map[bool][]string{false: completes, true: completes}, []string{
			"by an API client", "survived", "FIRST", "the last: ", "work lost", "deleted while",
		}},
	} {
		for mode, ours := range map[string]bool{"ours": true, "observed": false} {
			t.Run(name+", "+mode, func(t *testing.T) {
				l := stage(t, ours, nil)
				l.job("09:00:00", nil)
				if name != "it is gone" {
					l.jobWith("09:00:01", &events.JobStatus{StartTime: demoCreated, Active: 1}, func(*events.JobSeen) {})
					l.pod("09:00:02", func(*events.PodSeen, *events.Evidence) {})
				}
				l.unwatched("09:00:10", "09:10:00", func() { row.found(l) })
				said := l.said()
				hold(t, said, row.says[ours], row.not)
			})
		}
	}
}
