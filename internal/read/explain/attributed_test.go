package explain_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// failedPod is a pod that ran, and failed with an exit code.
func failedPod(code int32, clock string) func(*events.PodSeen, *events.Evidence) {
	return func(p *events.PodSeen, e *events.Evidence) {
		p.Phase, p.Finished = events.PodFailed, cronClock(clock)
		p.Exits = []events.ContainerExit{{Name: "main", Code: code}}
		e.Containers = []events.ContainerEnd{{Name: "main", ExitCode: code, Finished: cronClock(clock)}}
	}
}

// TestADeadlineThatHadPassedToo: a Job fails for its pod's failure, long after its deadline. The deadline is not ruled
// out.
func TestADeadlineThatHadPassedToo(t *testing.T) {
	for _, row := range []struct {
		clock  string
		passed bool
	}{{"09:00:30", false}, {"09:02:00", true}} {
		clock := row.clock
		l := stage(t, false, func(s *events.JobSpec) { s.BackoffLimit, s.ActiveDeadlineSeconds = new(int32(0)), new(int64(60)) })
		l.job("09:00:00", nil)
		l.job("09:00:01", &events.JobStatus{StartTime: demoCreated})
		l.pod("09:00:01", func(*events.PodSeen, *events.Evidence) {})
		l.pod(clock, failedPod(3, clock))
		end := madeUp(status.Failed, "BackoffLimitExceeded")
		end.Failed = 1
		for i := range end.Conditions {
			end.Conditions[i].Since = cronClock(clock)
		}
		l.job(clock, end)
		says, not := []string{"RULED OUT pod deletion"}, []string{"had not passed"}
		if !row.passed {
			says, not = append(says, not...), nil
		}
		hold(t, l.said(), says, not)
	}
}

// TestAVerdictThatIsOnTheWay: the status has the interim condition alone, and nothing led to it.
func TestAVerdictThatIsOnTheWay(t *testing.T) {
	for _, ours := range []bool{true, false} {
		l := stage(t, ours, nil)
		l.job("09:00:00", nil)
		s := madeUp(status.Failed, "BackoffLimitExceeded")
		s.Conditions = s.Conditions[:1]
		l.job("09:00:02", s)
		hold(t, l.said(), []string{"VERDICT FAILING: its status says BackoffLimitExceeded: so they say, but 0 failures, backoffLimit is 6"}, []string{"built-in controller #"})
	}
}

// TestSinceWhenAJobIsSuspended: only the first version of a spec says that a Job was suspended since its creation. Of
// one that was suspended before it was first seen, the condition tells since when, and nobody by whom.
func TestSinceWhenAJobIsSuspended(t *testing.T) {
	suspended := func(s *events.JobSpec) { s.Suspend = true }
	for _, row := range []struct {
		name      string
		first     func(*events.JobSeen)
		says, not []string
	}{
		{"since its creation", func(*events.JobSeen) {}, []string{"SUSPENDED for 30s, since it was created"}, nil},
		{"later, its condition says since when", func(f *events.JobSeen) { f.Generation, f.Status = 2, suspendedStatus("09:00:10") },
			[]string{"SUSPENDED for 20s, since before it was first seen"}, []string{"since it was created"}},
		{"later, and nothing says since when", func(f *events.JobSeen) { f.Generation = 2 },
			[]string{"SUSPENDED for at least 15s, since before it was first seen"}, []string{"since it was created"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := stage(t, false, suspended)
			l.jobWith("09:00:15", nil, row.first)
			l.pass("09:00:30")
			hold(t, l.said(), row.says, row.not)
		})
	}
}
