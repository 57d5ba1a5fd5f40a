package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/subject/status"
)

// endsOfJobs are Jobs that end by a field of their spec that users may edit afterwards.
var endsOfJobs = []struct {
	name   string
	create func(*sceneJob)
	end    func(*sceneJob)
}{
	{"backoffLimit", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(0)) }, func(j *sceneJob) {
		j.pod("10:00:01", "a-1", nil).runs("10:00:02", "n1").fails("10:00:10", 3, "boom")
		j.status("10:00:11", func(s *events.JobStatus) { s.Failed = 1 })
		j.ends("10:00:11", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	}},
	{"backoffLimit, restarts", func(j *sceneJob) { j.spec.BackoffLimit, j.spec.RestartPolicy = new(int32(2)), "OnFailure" }, func(j *sceneJob) {
		p := j.pod("10:00:01", "a-1", nil).runs("10:00:02", "n1")
		p.see("10:00:05", func(p *scenePod) { p.f.Restarts = 2 })
		p.deleted("10:00:06", 0)
		p.gone("10:00:07")
		j.status("10:00:08", func(s *events.JobStatus) { s.Failed = 1 })
		j.ends("10:00:08", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	}},
	{"backoffLimit, complete", func(j *sceneJob) { j.spec.BackoffLimit = new(int32(1)) }, func(j *sceneJob) {
		j.pod("10:00:01", "a-1", nil).runs("10:00:02", "n1").fails("10:00:10", 3, "boom")
		j.status("10:00:11", func(s *events.JobStatus) { s.Failed = 1 })
		j.pod("10:00:21", "a-2", nil).runs("10:00:22", "n1").succeeds("10:00:30")
		j.status("10:00:31", func(s *events.JobStatus) { s.Succeeded = 1 })
		j.ends("10:00:31", status.Complete, "CompletionsReached", "Reached expected number of succeeded pods")
	}},
	{"activeDeadlineSeconds", func(j *sceneJob) { j.spec.ActiveDeadlineSeconds = new(int64(5)) }, func(j *sceneJob) {
		j.ends("10:00:07", status.Failed, "DeadlineExceeded", "Job was active longer than specified deadline")
	}},
	{"completions", func(j *sceneJob) {
		j.spec.CompletionMode, j.spec.Completions, j.spec.Parallelism = "Indexed", new(int32(2)), new(int32(2))
	}, func(j *sceneJob) {
		for i, name := range []string{"a-0", "a-1"} {
			at := fmt.Sprintf("10:00:0%d", 1+i)
			j.pod(at, name, func(p *scenePod) { p.f.Index = int32(i) }).runs(at, "n1").succeeds(at)
		}
		j.status("10:00:07", func(s *events.JobStatus) { s.Succeeded, s.CompletedIndexes = 2, "0,1" })
		j.ends("10:00:07", status.Complete, "CompletionsReached", "Reached expected number of succeeded pods")
	}},
	{"completions, failed", func(j *sceneJob) {
		j.spec.CompletionMode, j.spec.Completions, j.spec.Parallelism, j.spec.BackoffLimit = "Indexed", new(int32(2)), new(int32(2)), new(int32(0))
	}, func(j *sceneJob) {
		j.pod("10:00:01", "a-1", func(p *scenePod) { p.f.Index = 1 }).runs("10:00:02", "n1").succeeds("10:00:03")
		j.pod("10:00:04", "a-0", func(p *scenePod) { p.f.Index = 0 }).runs("10:00:04", "n1").fails("10:00:05", 3, "boom")
		j.status("10:00:07", func(s *events.JobStatus) { s.Succeeded, s.CompletedIndexes, s.Failed = 1, "1", 1 })
		j.ends("10:00:07", status.Failed, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	}},
	{"maxFailedIndexes", func(j *sceneJob) {
		j.spec.CompletionMode, j.spec.Completions, j.spec.Parallelism = "Indexed", new(int32(2)), new(int32(2))
		j.spec.BackoffLimitPerIndex, j.spec.MaxFailedIndexes = new(int32(0)), new(int32(0))
	}, func(j *sceneJob) {
		j.pod("10:00:01", "a-0", func(p *scenePod) { p.f.Index = 0 }).runs("10:00:02", "n1").fails("10:00:05", 3, "boom")
		j.status("10:00:07", func(s *events.JobStatus) { s.Failed, s.FailedIndexes = 1, new("0") })
		j.ends("10:00:07", status.Failed, "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes")
	}},
}

// laterEdits are edits that the API server accepts of a Job that has ended (J-212).
var laterEdits = []struct {
	name string
	edit func(*events.JobSpec)
}{
	{"a higher backoffLimit", func(s *events.JobSpec) { s.BackoffLimit = new(int32(90)) }},
	{"a lower backoffLimit", func(s *events.JobSpec) { s.BackoffLimit = new(int32(0)) }},
	{"a longer deadline", func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(5000)) }},
	{"a shorter deadline", func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(1)) }},
	{"no deadline", func(s *events.JobSpec) { s.ActiveDeadlineSeconds = nil }},
	{"suspend", func(s *events.JobSpec) { s.Suspend = true }},
	{"parallelism 0", func(s *events.JobSpec) { s.Parallelism = new(int32(0)) }},
	{"a TTL", func(s *events.JobSpec) { s.TTLSecondsAfterFinished = new(int32(100)) }},
	{"more completions", func(s *events.JobSpec) {
		if s.CompletionMode == "Indexed" {
			s.Completions, s.Parallelism = new(int32(5)), new(int32(5))
		}
	}},
	{"fewer completions", func(s *events.JobSpec) {
		if s.CompletionMode == "Indexed" {
			s.Completions, s.Parallelism = new(int32(1)), new(int32(1))
		}
	}},
	{"a higher maxFailedIndexes", func(s *events.JobSpec) {
		if s.MaxFailedIndexes != nil {
			s.MaxFailedIndexes = new(int32(2))
		}
	}},
	{"no maxFailedIndexes", func(s *events.JobSpec) { s.MaxFailedIndexes = nil }},
}

// toldOfTheEnd returns the verdict of an answer and its sentences, apart from those about edits, about who edited, and
// about what was not the cause: an edit may have been.
func toldOfTheEnd(a explain.Answer) (out []string) {
	out = append(out, a.Verdict.Text)
	for _, s := range a.Sections {
		switch s.Head {
		case explain.HeadEdits, explain.HeadManagers, explain.HeadRuledOut:
			continue
		}
		for i := range s.Sentences {
			out = append(out, s.Head+": "+s.Sentences[i].Text)
		}
	}
	return out
}

// TestAnEditAfterTheEndChangesNoReason: users raise the limit of a Job that has failed, and the answer about its end
// stays what it was.
func TestAnEditAfterTheEndChangesNoReason(t *testing.T) {
	for _, of := range endsOfJobs {
		for _, later := range laterEdits {
			t.Run(of.name+"/"+later.name, func(t *testing.T) {
				j := newScene(t, true).job("10:00:00", "a", "{}", of.create)
				j.starts("10:00:00")
				of.end(j)
				before, edited := j.caseOf(0).Answer(), j.spec
				if later.edit(&edited); len(j.spec.Differs(&edited)) == 0 {
					return // the Job does not have that field
				}
				j.edit("10:05:00", "kubectl-edit", later.edit)
				after := j.caseOf(0).Answer()
				if was, is := toldOfTheEnd(before), toldOfTheEnd(after); !slices.Equal(was, is) {
					t.Errorf("it is said\n%q\nand was before the edit\n%q", is, was)
				}
			})
		}
	}
}

// TestAnEndOfUnknownSpecIsNotDoubted: a Job that had ended and had been edited when it was first seen, as those that a
// cluster has when Jobledger is installed, is not said to contradict its status.
func TestAnEndOfUnknownSpecIsNotDoubted(t *testing.T) {
	for _, row := range []struct {
		name       string
		reason     string
		generation int64
		spec       func(*events.JobSpec)
		doubted    bool
	}{
		{"edited since", "BackoffLimitExceeded", 2, func(s *events.JobSpec) { s.BackoffLimit = new(int32(9)) }, false},
		{"a limit lowered since", "BackoffLimitExceeded", 2, func(s *events.JobSpec) { s.BackoffLimit = new(int32(0)) }, false},
		{"a deadline shortened since", "DeadlineExceeded", 2, func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(3)) }, false},
		{"maxFailedIndexes lowered since", "MaxFailedIndexesExceeded", 2, func(s *events.JobSpec) {
			s.CompletionMode, s.Completions, s.Parallelism = "Indexed", new(int32(2)), new(int32(2))
			s.BackoffLimitPerIndex, s.MaxFailedIndexes = new(int32(0)), new(int32(0))
		}, false},
		{"completions changed since", "CompletionsReached", 2, func(s *events.JobSpec) {
			s.CompletionMode, s.Completions, s.Parallelism = "Indexed", new(int32(2)), new(int32(2))
		}, false},
		{"never edited", "BackoffLimitExceeded", 1, func(s *events.JobSpec) { s.BackoffLimit = new(int32(9)) }, true},
		{"the deadline edited since", "DeadlineExceeded", 2, func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(500)) }, false},
		{"the deadline never edited", "DeadlineExceeded", 1, func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(500)) }, true},
		{"its pods restarted, which nobody saw", "BackoffLimitExceeded", 1, func(s *events.JobSpec) { s.RestartPolicy = "OnFailure" }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newScene(t, true)
			j := l.job("10:00:00", "a", "{}", func(j *sceneJob) {
				row.spec(&j.spec)
				j.seen.Generation = row.generation
				j.stat.Failed, j.stat.StartTime = 1, cronClock("09:00:00")
				kinds := []string{status.FailureTarget, status.Failed}
				if row.reason == "CompletionsReached" {
					kinds = []string{status.SuccessCriteriaMet, status.Complete}
					j.stat.Failed, j.stat.Succeeded, j.stat.CompletedIndexes = 0, 3, "0-2"
				}
				for _, kind := range kinds {
					j.stat.Conditions = append(j.stat.Conditions, events.JobCondition{
						Type: kind, Status: "True", Reason: row.reason, Message: "as its status says", Since: cronClock("09:00:09"),
					})
				}
			})
			told := toldOfTheEnd(j.caseOf(0).Answer())
			if doubted := strings.Contains(told[0], "its status says"); doubted != row.doubted {
				t.Errorf("it is said\n%q", told)
			}
			if s := strings.Join(told, "\n"); strings.Contains(s, "but ") != row.doubted || row.generation > 1 && (strings.Contains(s, "backoffLimit") || strings.Contains(s, "activeDeadlineSeconds") || strings.Contains(s, "maxFailedIndexes") || strings.Contains(told[0], " of ")) {
				t.Errorf("it is said\n%q", told)
			}
		})
	}
}
