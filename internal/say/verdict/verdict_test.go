package verdict_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

const (
	start = events.Time(1_700_000_000 * time.Second)
	end   = start + events.Time(36*time.Second)
)

// job is one that was seen, and that has not ended.
func job(change func(*projector.Job)) *projector.Job {
	j := &projector.Job{Version: 7, Created: start, Now: end, Spec: &events.JobSpec{BackoffLimit: new(int32(2)), RestartPolicy: "Never"}}
	j.Base = status.New()
	j.Base.StartTime = start
	change(j)
	return j
}

func over(kind string, reason events.Reason, succeeded, failed int32, change func(*projector.Job)) *projector.Job {
	return job(func(j *projector.Job) {
		j.Base.Conditions = []events.JobCondition{{Type: kind, Status: "True", Reason: string(reason), Message: "a message", Since: end}}
		j.Base.Succeeded, j.Base.Failed = succeeded, failed
		change(j)
	})
}

func failed(reason events.Reason, n int32, ends ...projector.TryEnd) *projector.Job {
	return over(status.Failed, reason, 0, n, func(j *projector.Job) {
		j.Ends = ends
		j.Spec.BackoffLimit = new(min(2, max(n-1, 0)))
	})
}

// unmet is one that has fewer failures than its limit.
func unmet(reason events.Reason, n int32, ends ...projector.TryEnd) *projector.Job {
	return over(status.Failed, reason, 0, n, func(j *projector.Job) { j.Ends = ends })
}

func complete(n, survived int32, ends ...projector.TryEnd) *projector.Job {
	return over(status.Complete, "CompletionsReached", n, survived, func(j *projector.Job) { j.Ends = ends })
}

// tries are n of one way.
func tries(n uint32, kind projector.TryKind, change func(*projector.Way)) projector.TryEnd {
	e := projector.TryEnd{Count: n, Index: events.NoIndex, Way: projector.Way{Kind: kind}}
	if change != nil {
		change(&e.Way)
	}
	return e
}

func exits(n uint32, container string, code int32, reason string) projector.TryEnd {
	return tries(n, projector.TryFailed, func(w *projector.Way) {
		w.Exits[0] = projector.TryExit{Container: container, Code: code, Reason: reason}
	})
}

func disrupted(n uint32, reason string) projector.TryEnd {
	return tries(n, projector.TryDisrupted, func(w *projector.Way) { w.Reason = reason })
}

func changed(j *projector.Job, change func(*projector.Job)) *projector.Job {
	change(j)
	return j
}

// perIndex is a Job whose index 3 failed, with a limit for each index.
func perIndex(limit int32, ends ...projector.TryEnd) *projector.Job {
	return changed(failed("FailedIndexes", 1, ends...), func(j *projector.Job) {
		j.Indexed, j.PerIndex, j.Completions, j.Base.FailedIndexes = true, true, 10, indexset.Parse("3", 10)
		j.Spec.BackoffLimitPerIndex = &limit
	})
}

// TestVerdicts says what is said of Jobs, by their states.
func TestVerdicts(t *testing.T) {
	const limit = "BackoffLimitExceeded"
	for _, row := range []struct {
		sentence string
		job      *projector.Job
		want     string
	}{
		{"tries that ended alike are all", failed(limit, 3, exits(3, "main", 3, "Error")),
			"FAILED after 36 s: all 3 tries exited 3 (container main); backoffLimit is 2"},
		{"one try is the only one", failed(limit, 1, exits(1, "main", 3, "Error")),
			"FAILED after 36 s: its only try exited 3 (container main); backoffLimit is 0"},
		{"a reason that says more than the code is told", failed(limit, 3, exits(3, "main", 137, "OOMKilled")),
			"FAILED after 36 s: all 3 tries exited 137 OOMKilled (container main); backoffLimit is 2"},
		{"a container that its kubelet lost did not exit", failed(limit, 3, exits(3, "main", 137, "ContainerStatusUnknown")),
			"FAILED after 36 s: how all 3 tries ended is unknown (ContainerStatusUnknown); backoffLimit is 2"},
		{"the same code for another reason is another way", failed(limit, 3, exits(2, "main", 137, "OOMKilled"), exits(1, "main", 137, "Error")),
			"FAILED after 36 s: 2 tries exited 137 OOMKilled, 1 try exited 137; backoffLimit is 2"},
		{"the same code of another container is another way", failed(limit, 3, exits(1, "a", 1, ""), exits(2, "b", 1, "")),
			"FAILED after 36 s: 2 tries exited 1 (container b), 1 try exited 1 (container a); backoffLimit is 2"},
		{"a try that succeeded makes them not all", over(status.Failed, limit, 1, 3, func(j *projector.Job) { j.Ends = append(j.Ends, exits(3, "main", 3, "")) }),
			"FAILED after 36 s: 3 tries exited 3 (container main); backoffLimit is 2"},
		{"failures that the log did not see are unknown", failed(limit, 5, exits(3, "main", 3, "")),
			"FAILED after 36 s: 3 tries exited 3 (container main), 2 more are unknown; backoffLimit is 2"},
		{"nothing is known of the tries", failed(limit, 3),
			"FAILED after 36 s: how 3 tries ended is unknown; backoffLimit is 2"},
		{"two containers of a try", failed(limit, 3, tries(3, projector.TryFailed, func(w *projector.Way) {
			w.Exits = [2]projector.TryExit{{Container: "a", Code: 1}, {Container: "b", Kind: events.InitContainer, Code: 2}}
		})),
			"FAILED after 36 s: all 3 tries exited 1 (container a) and 2 (init container b); backoffLimit is 2"},
		{"no container says why", failed(limit, 3, tries(3, projector.TryFailed, nil)),
			"FAILED after 36 s: all 3 tries failed, no container says why; backoffLimit is 2"},
		{"the pod says why", failed(limit, 3, tries(3, projector.TryFailed, func(w *projector.Way) { w.Reason = "UnexpectedAdmissionError" })),
			"FAILED after 36 s: all 3 tries were rejected (UnexpectedAdmissionError); backoffLimit is 2"},
		{"disruptions are no failures of the program", failed(limit, 3, disrupted(3, "EvictionByEvictionAPI")),
			"FAILED after 36 s: all 3 tries were evicted through the eviction API; backoffLimit is 2"},
		{"a disruption of a newer Kubernetes", failed(limit, 1, disrupted(1, "SomethingNew")),
			"FAILED after 36 s: its only try was disrupted (SomethingNew); backoffLimit is 0"},
		{"deleted by somebody", failed(limit, 3, tries(3, projector.TryDeleted, nil)),
			"FAILED after 36 s: all 3 tries were deleted before their end; backoffLimit is 2"},
		{"an end that nobody saw", failed(limit, 1, tries(1, projector.TryUnseen, nil)),
			"FAILED after 36 s: its only try is gone, its end was not seen; backoffLimit is 0"},
		{"what was stopped is no try that failed", failed(limit, 5, exits(3, "main", 3, ""), tries(2, projector.TryStopped, nil)),
			"FAILED after 36 s: 3 tries exited 3 (container main); backoffLimit is 2; 2 pods were stopped"},
		{"nothing but what was stopped", failed(limit, 1, tries(1, projector.TryStopped, nil)),
			"FAILED after 36 s: backoffLimit is 0; 1 pod was stopped"},
		{"restarts in place", failed(limit, 1, tries(2, projector.TryRestarted, func(w *projector.Way) {
			w.Exits[0] = projector.TryExit{Container: "main", Code: 3}
		}), tries(1, projector.TryStopped, nil)),
			"FAILED after 36 s: container main restarted 2 times after exit 3; backoffLimit is 0"},
		{"a try that a restart came before", failed(limit, 1, tries(1, projector.TryRestarted, nil), exits(1, "a-container-with-a-name-that-is-long", 137, "OOMKilled")),
			"FAILED after 36 s: 1 try exited 137 OOMKilled, with restarts; backoffLimit is 0"},
		{"tries that more restarts came before", failed(limit, 2, tries(9, projector.TryRestarted, nil), exits(2, "a-container-with-a-name-that-is-long", 137, "OOMKilled")),
			"FAILED after 36 s: 2 tries exited 137 OOMKilled, with restarts; backoffLimit is 1"},
		{"restarts alone have room: tries have not ended otherwise than they", failed(limit, 2, tries(9, projector.TryRestarted, func(w *projector.Way) {
			w.Exits[0] = projector.TryExit{Container: "main", Code: 3}
		}), exits(2, "main", 137, "OOMKilledByTheNode")),
			"FAILED after 36 s: restarted 9 times after exit 3, 2 tries did not succeed; backoffLimit is 1"},
		{"the deadline", changed(failed("DeadlineExceeded", 2, tries(2, projector.TryStopped, nil)), func(j *projector.Job) {
			j.Spec.ActiveDeadlineSeconds = new(int64(30))
		}),
			"FAILED after 36 s: activeDeadlineSeconds 30 passed; 2 pods were stopped"},
		{"restarts that there is no room for", changed(failed("DeadlineExceeded", 2, tries(2, projector.TryStopped, nil),
			tries(3, projector.TryRestarted, func(w *projector.Way) {
				w.Exits[0] = projector.TryExit{Container: strings.Repeat("a-long-name-", 5), Code: 3}
			})), func(j *projector.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(30)) }),
			"FAILED after 36 s: activeDeadlineSeconds 30 passed; 2 pods were stopped"},
		{"the deadline after a failure", changed(failed("DeadlineExceeded", 2, exits(1, "main", 1, ""), tries(1, projector.TryStopped, nil)), func(j *projector.Job) {
			j.Spec.ActiveDeadlineSeconds = new(int64(30))
		}),
			"FAILED after 36 s: activeDeadlineSeconds 30 passed; 1 pod was stopped; 1 try exited 1"},
		{"a rule of the podFailurePolicy, in an index", changed(failed("PodFailurePolicy", 1, tries(1, projector.TryFailed, func(w *projector.Way) {
			w.Exits[0], w.Action, w.Rule = projector.TryExit{Container: "main", Code: 42}, "FailJob", 1
		})), func(j *projector.Job) {
			j.Indexed, j.Completions = true, 3
			j.Ends[0].Index = 2
		}),
			"FAILED after 36 s: 1 try exited 42 (container main) in index 2; podFailurePolicy.rules[1] is FailJob"},
		{"a rule of the podFailurePolicy that the log did not see match", changed(failed("PodFailurePolicy", 1), func(j *projector.Job) {
			j.Spec.PodFailurePolicy = "{}"
		}),
			"FAILED after 36 s: its status says PodFailurePolicy: a message"},
		{"indexes", changed(failed("FailedIndexes", 4, exits(4, "main", 17, "")), func(j *projector.Job) {
			j.Indexed, j.PerIndex, j.Completions, j.Base.FailedIndexes = true, true, 10, indexset.Parse("3,7", 10)
		}),
			"FAILED after 36 s: indexes 3,7 of 10 failed; 4 tries exited 17 (container main)"},
		{"many indexes", changed(failed("FailedIndexes", 40, exits(40, "main", 17, "")), func(j *projector.Job) {
			j.Indexed, j.PerIndex, j.Completions, j.Base.FailedIndexes = true, true, 100, indexset.Parse("1,3,5,7,9,11,13,15,17,19,21", 100)
		}),
			"FAILED after 36 s: 11 of 100 indexes failed; 40 tries exited 17 (container main)"},
		{"an index that may fail once", perIndex(0, exits(1, "main", 137, "OOMKilled")),
			"FAILED after 36 s: index 3 of 10 failed; 1 try exited 137 OOMKilled; backoffLimitPerIndex is 0"},
		{"an index that a rule failed", perIndex(2, tries(1, projector.TryFailed, func(w *projector.Way) {
			w.Exits[0], w.Action, w.Rule = projector.TryExit{Container: "main", Code: 42}, "FailIndex", 1
		})),
			"FAILED after 36 s: index 3 of 10 failed; 1 try exited 42; podFailurePolicy.rules[1] is FailIndex"},
		{"the pod's own deadline", failed(limit, 3, tries(3, projector.TryFailed, func(w *projector.Way) {
			w.Exits[0], w.Reason = projector.TryExit{Container: "main", Code: 143}, "DeadlineExceeded"
		})),
			"FAILED after 36 s: all 3 tries ran longer than their own activeDeadlineSeconds; backoffLimit is 2"},
		{"the pod's own deadline after a failure", failed(limit, 3, exits(2, "main", 3, ""), tries(1, projector.TryFailed,
			func(w *projector.Way) { w.Reason = "DeadlineExceeded" })),
			"FAILED after 36 s: 2 tries exited 3, 1 try ran over its own deadline; backoffLimit is 2"},
		{"a node that did not admit it, after a failure", failed(limit, 3, exits(2, "main", 3, ""), tries(1, projector.TryFailed,
			func(w *projector.Way) { w.Reason = "OutOfcpu" })),
			"FAILED after 36 s: 2 tries exited 3, 1 try was rejected (OutOfcpu); backoffLimit is 2"},
		{"a limit that was not met", unmet(limit, 1, exits(1, "main", 3, "")),
			"FAILED after 36 s: its status says BackoffLimitExceeded; 1 failure, backoffLimit is 2"},
		{"a limit that nothing met", unmet(limit, 0), "FAILED after 36 s: its status says BackoffLimitExceeded; 0 failures, backoffLimit is 2"},
		{"a limit of restarts that was not met", changed(unmet(limit, 0, tries(1, projector.TryRestarted, nil)), func(j *projector.Job) {
			j.Spec.RestartPolicy = "OnFailure"
		}),
			"FAILED after 36 s: its status says BackoffLimitExceeded; 0 failures and 1 restart, backoffLimit is 2"},
		{"a deadline that did not pass", changed(failed("DeadlineExceeded", 0), func(j *projector.Job) { j.Spec.ActiveDeadlineSeconds = new(int64(300)) }),
			"FAILED after 36 s: its status says DeadlineExceeded; activeDeadlineSeconds is 300"},
		{"a deadline of a Job that did not start", changed(failed("DeadlineExceeded", 0), func(j *projector.Job) {
			j.Spec.ActiveDeadlineSeconds, j.Base.StartTime = new(int64(3)), 0
		}),
			"FAILED: its status says DeadlineExceeded; activeDeadlineSeconds is 3"},
		{"a deadline that it has not", failed("DeadlineExceeded", 0), "FAILED after 36 s: its status says DeadlineExceeded; activeDeadlineSeconds is not set"},
		{"a rule of the podFailurePolicy that it has not", failed("PodFailurePolicy", 0),
			"FAILED after 36 s: its status says PodFailurePolicy; it has no podFailurePolicy"},
		{"a rule that it has, and that nothing matched", changed(failed("PodFailurePolicy", 0), func(j *projector.Job) { j.Spec.PodFailurePolicy = "{}" }),
			"FAILED after 36 s: its status says PodFailurePolicy: a message"},
		{"failed indexes of which there are none", failed("FailedIndexes", 0), "FAILED after 36 s: its status says FailedIndexes; 0 failed indexes"},
		{"too few failed indexes", changed(failed("MaxFailedIndexesExceeded", 0), func(j *projector.Job) { j.Spec.MaxFailedIndexes = new(int32(3)) }),
			"FAILED after 36 s: its status says MaxFailedIndexesExceeded; 0 failed indexes, maxFailedIndexes is 3"},
		{"too few successes", changed(complete(2, 0), func(j *projector.Job) { j.Completions = 3 }),
			"COMPLETE after 36 s: its status says CompletionsReached; 2 of 3 completions succeeded"},
		{"a success policy that it has not", changed(complete(0, 0), func(j *projector.Job) { j.Base.Conditions[0].Reason = "SuccessPolicy" }),
			"COMPLETE after 36 s: its status says SuccessPolicy; it has no successPolicy"},
		{"a reason that others gave", failed("OutOfLuck", 0), "FAILED after 36 s: reason OutOfLuck"},
		{"no reason", failed("", 0), "FAILED after 36 s: no reason is given"},
		{"one pod", complete(1, 0), "COMPLETE after 36 s: 1 pod succeeded"},
		{"all indexes", changed(complete(3, 0), func(j *projector.Job) { j.Indexed, j.Completions = true, 3 }),
			"COMPLETE after 36 s: all 3 indexes completed"},
		{"it survived a failure", complete(3, 1, exits(1, "main", 3, "")),
			"COMPLETE after 36 s: 3 pods succeeded; survived: 1 try exited 3 (container main)"},
		{"it was close", complete(3, 2, disrupted(2, "PreemptionByScheduler")),
			"COMPLETE after 36 s: 3 pods succeeded; survived: 2 tries were preempted by the scheduler"},
		{"a failure that is ignored", complete(1, 0, tries(1, projector.TryDisrupted, func(w *projector.Way) { w.Reason, w.Action = "DeletionByTaintManager", "Ignore" })),
			"COMPLETE after 36 s: 1 pod succeeded; survived: 1 try was deleted for a taint of the node (ignored)"},
		{"a device is tainted", complete(1, 0, tries(1, projector.TryDisrupted, func(w *projector.Way) { w.Reason = "DeletionByDeviceTaintManager" })),
			"COMPLETE after 36 s: 1 pod succeeded; survived: 1 try was deleted for a taint of a device"},
		{"its start is not known", changed(complete(1, 0), func(j *projector.Job) { j.Base.StartTime = 0 }), "COMPLETE: 1 pod succeeded"},
		{"it took no time", changed(complete(1, 0), func(j *projector.Job) { j.Base.StartTime = end }), "COMPLETE in under 1 s: 1 pod succeeded"},
		{"it ended before it started, by two clocks", changed(complete(1, 0), func(j *projector.Job) { j.Base.StartTime = end + 5e9 }),
			"COMPLETE in under 1 s: 1 pod succeeded"},
		{"deleted while it ran", changed(job(func(*projector.Job) {}), func(j *projector.Job) { j.Gone = true }), "DELETED 36 s after its creation, before its end"},
		{"it goes on", job(func(j *projector.Job) { j.Ends = append(j.Ends, exits(1, "main", 3, "")) }),
			"UNFINISHED 36 s after its creation: 1 try exited 3 (container main)"},
		{"it was never seen", &projector.Job{}, "UNKNOWN: its object has not been seen"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			if got := verdict.Of(row.job); got != row.want {
				t.Errorf("\n\t%s\nwant\n\t%s", got, row.want)
			}
		})
	}
}

// TestAVerdictIsOneLine: whatever names and reasons others wrote, and however many ways there are.
func TestAVerdictIsOneLine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"main", "", "a\nb\x1b[31m", "\xff\xfe", "käse", strings.Repeat("x", 300), strings.Repeat("\u202e", 100), `"quoted"\`, "%s%d"}
	text := func() string { return texts[rng.IntN(len(texts))] }
	reasons := []events.Reason{
		"BackoffLimitExceeded", "DeadlineExceeded", "PodFailurePolicy", "MaxFailedIndexesExceeded", "FailedIndexes", "SuccessPolicy", "CompletionsReached",
	}
	for n := range 5_000 {
		j := job(func(j *projector.Job) {
			j.Base.StartTime = start - events.Time(rng.Int64N(1e18))
			j.Base.Succeeded, j.Base.Failed, j.Completions, j.Indexed = rng.Int32N(3), rng.Int32N(6), rng.Int32(), n%2 == 0
			if n%7 == 0 {
				j.Base.Succeeded, j.Base.Failed = rng.Int32(), rng.Int32()
			}
			j.Base.FailedIndexes = indexset.Parse("1,3,5-9", 100)
			j.Spec.ActiveDeadlineSeconds, j.Spec.MaxFailedIndexes, j.Spec.BackoffLimit = new(rng.Int64()), new(rng.Int32()), new(rng.Int32())
			reason := reasons[rng.IntN(len(reasons))]
			if n%5 == 0 {
				reason = events.Reason(text())
			}
			kind := []string{status.Complete, status.Failed, status.Suspended}[rng.IntN(3)]
			j.Base.Conditions = []events.JobCondition{{Type: kind, Status: "True", Reason: string(reason), Message: text(), Since: end}}
			for range rng.IntN([]int{3, 12}[n%2]) {
				e := projector.TryEnd{Count: 1 + rng.Uint32N([]uint32{3, 1 << 20}[rng.IntN(2)]), Pod: text(), Index: rng.Int32()}
				e.Kind, e.Reason, e.MoreExits = projector.TryKind(1+rng.IntN(6)), text(), rng.Uint32N(3)
				e.Action, e.Rule, e.Other = []string{"", "FailJob", "Ignore", "Count"}[rng.IntN(4)], rng.Uint32N(20), rng.IntN(5) == 0
				for i := range rng.IntN(3) {
					e.Exits[i] = projector.TryExit{Container: text(), Kind: events.ContainerKind(rng.IntN(3)), Code: rng.Int32(), Reason: text()}
				}
				j.Ends = append(j.Ends, e)
			}
		})
		line := verdict.Of(j)
		if len(line) == 0 || len(line) > verdict.Width || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Fatalf("%d: %q has %d columns", n, line, len(line))
		}
		if again := verdict.Of(j); again != line {
			t.Fatalf("%q, and then %q", line, again)
		}
	}
}
