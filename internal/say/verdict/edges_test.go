package verdict_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/verdict"
	"github.com/jobledger/jobledger/internal/subject/indexset"
	"github.com/jobledger/jobledger/internal/subject/status"
	"github.com/jobledger/jobledger/projector"
)

// TestVerdictsAtTheirEdges: one more, one less, and what there is no room for.
func TestVerdictsAtTheirEdges(t *testing.T) {
	const limit, deadline = "BackoffLimitExceeded", "DeadlineExceeded"
	long := strings.Repeat("a-name-", 12)
	with := func(j *projector.Job, change func(s *events.JobSpec)) *projector.Job {
		change(j.Spec)
		return j
	}
	restarts := func(n uint32, container string, code int32) projector.TryEnd {
		return tries(n, projector.TryRestarted, func(w *projector.Way) { w.Exits[0] = projector.TryExit{Container: container, Code: code} })
	}
	failJob := func(container string, indexed bool) *projector.Job {
		return changed(failed("PodFailurePolicy", 1, tries(1, projector.TryFailed, func(w *projector.Way) {
			w.Exits[0], w.Action, w.Rule = projector.TryExit{Container: container, Code: 42, Reason: "Completed"}, "FailJob", 0
		})), func(j *projector.Job) { j.Indexed, j.Ends[0].Index = indexed, 0 })
	}
	met := func(message string, succeeded int32) *projector.Job {
		return changed(complete(succeeded, 0), func(j *projector.Job) {
			j.Base.Conditions[0].Reason, j.Base.Conditions[0].Message, j.Completions, j.Spec.SuccessPolicy = "SuccessPolicy", message, 3, "{}"
		})
	}
	for _, row := range []struct {
		job  *projector.Job
		want string
	}{
		{failed(limit, 2, exits(2, "main", 3, "")), "FAILED after 36 s: both tries exited 3 (container main); backoffLimit is 1"},
		{failed(limit, 3, exits(3, long, 3, "")), "FAILED after 36 s: all 3 tries exited 3; backoffLimit is 2"},
		{failed("", 1, exits(1, long, 3, "")), "FAILED after 36 s: no reason is given; 1 try exited 3 (container a-name-a-name-a-na...e-a-name-)"},
		{failed(limit, 4, exits(3, "main", 3, "")), "FAILED after 36 s: 3 tries exited 3 (container main), 1 more is unknown; backoffLimit is 2"},
		{failed(limit, 2, exits(2, "main", 3, ""), restarts(1, "main", 0)), "FAILED after 36 s: 2 tries exited 3, restarted once after exit 0; backoffLimit is 1"},
		{failed(limit, 3, tries(5, projector.TryRestarted, nil), exits(3, "a", 3, "")),
			"FAILED after 36 s: 3 tries exited 3, restarted 5 times, the exit was not seen; backoffLimit is 2"},
		{unmet("", 0, tries(5, projector.TryRestarted, func(w *projector.Way) { w.Other = true })),
			"FAILED after 36 s: no reason is given; restarted 5 times after other exits"},
		{failed(limit, 3, exits(1, "a", 1, ""), exits(1, "b", 2, ""), exits(1, "c", 3, "")), "FAILED after 36 s: 1 try exited 1, 1 try exited 2, 1 try exited 3; backoffLimit is 2"},
		{failed(limit, 4, exits(2, "a", 1, "AReasonOfSomeLength"), tries(1, projector.TryDeleted, nil), tries(1, projector.TryUnseen, nil)),
			"FAILED after 36 s: 2 tries exited 1 AReasonOfSomeLength, 2 in other ways; backoffLimit is 2"},
		{failed(limit, 5, exits(3, "a", 1, "AReasonOfSomeLengthHere"), exits(2, "b", 2, "AReasonOfSomeLengthHere")),
			"FAILED after 36 s: 3 tries exited 1 AReasonOfSomeLengthHere, 2 in other ways; backoffLimit is 2"},
		{failed(limit, 5, exits(3, "a", 1, "AReasonOfSomeLengthHere"), tries(2, projector.TryDeleted, nil)),
			"FAILED after 36 s: 3 tries exited 1 AReasonOfSomeLengthHere, 2 deleted; backoffLimit is 2"},
		{failed(limit, 3, tries(2, projector.TryFailed, func(w *projector.Way) { w.Other = true }), tries(1, projector.TryUnseen, nil)),
			"FAILED after 36 s: 2 tries failed in other ways, 1 not seen to end; backoffLimit is 2"},
		{failed(limit, 2, tries(2, projector.TryUnseen, nil)), "FAILED after 36 s: both tries are gone, their ends were not seen; backoffLimit is 1"},
		{failed(limit, 3, disrupted(2, "DeletionByPodGC"), exits(1, "main", 1, "")), "FAILED after 36 s: 2 tries were deleted by PodGC, 1 try exited 1; backoffLimit is 2"},
		{failed(limit, 16, exits(9, "a", 1, ""), restarts(8, "b", 3), tries(7, projector.TryDeleted, nil)),
			"FAILED after 36 s: 9 tries exited 1, restarted 8 times after exit 3, 7 deleted; backoffLimit is 2"},
		{failed(limit, 1, disrupted(1, "")), "FAILED after 36 s: its only try was disrupted; backoffLimit is 0"},
		{failed(limit, 1, tries(1, projector.TryFailed, func(w *projector.Way) {
			w.Exits[0], w.Exits[1] = projector.TryExit{Container: "a", Code: 1, Kind: events.SidecarContainer}, projector.TryExit{Container: "b", Code: 2}
			w.MoreExits, w.Reason = 2, "Why"
		})), "FAILED after 36 s: its only try exited 1 and 2 and 2 more, Why; backoffLimit is 0"},
		{failJob("main", false), "FAILED after 36 s: 1 try exited 42 (container main); podFailurePolicy.rules[0] is FailJob"},
		{failJob("main", true), "FAILED after 36 s: 1 try exited 42 (container main) in index 0; podFailurePolicy.rules[0] is FailJob"},
		{failJob("a-container-of-a-long-name", true), "FAILED after 36 s: 1 try exited 42 in index 0; podFailurePolicy.rules[0] is FailJob"},
		{unmet(limit, 2), "FAILED after 36 s: its status says BackoffLimitExceeded; 2 failures, backoffLimit is 2"},
		{with(unmet(limit, 0, restarts(2, "main", 1)), func(s *events.JobSpec) { s.RestartPolicy = "OnFailure" }),
			"FAILED after 36 s: container main restarted 2 times after exit 1; backoffLimit is 2"},
		{with(unmet(limit, 6), func(s *events.JobSpec) { s.BackoffLimit = nil }), "FAILED after 36 s: its status says BackoffLimitExceeded; 6 failures, backoffLimit is 6"},
		{with(failed(deadline, 0), func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(38)) }), "FAILED after 36 s: activeDeadlineSeconds 38 passed"},
		{with(failed(deadline, 0), func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(39)) }), "FAILED after 36 s: its status says DeadlineExceeded; activeDeadlineSeconds is 39"},
		{with(failed(deadline, 0), func(s *events.JobSpec) { s.ActiveDeadlineSeconds = new(int64(1 << 60)) }),
			"FAILED after 36 s: its status says DeadlineExceeded; activeDeadlineSeconds is 1152921504606846976"},
		{failed("MaxFailedIndexesExceeded", 0), "FAILED after 36 s: its status says MaxFailedIndexesExceeded; maxFailedIndexes is not set"},
		{changed(failed("MaxFailedIndexesExceeded", 2), func(j *projector.Job) {
			j.Spec.MaxFailedIndexes, j.Base.FailedIndexes, j.Completions = new(int32(1)), indexset.Parse("1,2", 9), 9
		}), "FAILED after 36 s: indexes 1,2 of 9 failed, maxFailedIndexes is 1; how 2 tries ended is unknown"},
		{changed(failed("MaxFailedIndexesExceeded", 0), func(j *projector.Job) {
			j.Spec.MaxFailedIndexes, j.Base.FailedIndexes = new(int32(2)), indexset.Parse("1,2", 9)
		}),
			"FAILED after 36 s: its status says MaxFailedIndexesExceeded; 2 failed indexes, maxFailedIndexes is 2"},
		{changed(complete(0, 0), func(j *projector.Job) { j.WorkQueue = true }), "COMPLETE after 36 s: its status says CompletionsReached; 0 pods succeeded"},
		{changed(complete(1, 0), func(j *projector.Job) { j.WorkQueue, j.Completions = true, 3 }), "COMPLETE after 36 s: 1 pod succeeded"},
		{met("Matched rules at index 2", 1), "COMPLETE after 36 s: successPolicy.rules[2] is met by 1 of 3 indexes"},
		{met("as it likes", 3), "COMPLETE after 36 s: its successPolicy is met by all 3 indexes"},
		{changed(met("as it likes", 3), func(j *projector.Job) { j.Base.Completed = indexset.Parse("0-2", 3) }),
			"COMPLETE after 36 s: its successPolicy is met by all 3 indexes"},
		{changed(met("as it likes", 2), func(j *projector.Job) { j.Base.Completed = indexset.Parse("0,2", 3) }),
			"COMPLETE after 36 s: its successPolicy is met by indexes 0,2 of 3"},
		{changed(met("as it likes", 2), func(j *projector.Job) { j.Base.Completed = indexset.Parse("0", 3) }),
			"COMPLETE after 36 s: its successPolicy is met by index 0 of 3"},
		{changed(met("as it likes", 1), func(j *projector.Job) { j.Spec.SuccessPolicy, j.Spec.Policies = "", "hash" }),
			"COMPLETE after 36 s: its successPolicy is met by 1 of 3 indexes"},
		{failed("PodFailurePolicy", 1), "FAILED after 36 s: its status says PodFailurePolicy; it has no podFailurePolicy"},
		{with(failed("PodFailurePolicy", 1), func(s *events.JobSpec) { s.PodFailurePolicy = "{}" }),
			"FAILED after 36 s: its status says PodFailurePolicy: a message"},
		{with(failed("PodFailurePolicy", 1), func(s *events.JobSpec) { s.Policies = "hash" }),
			"FAILED after 36 s: its status says PodFailurePolicy: a message"},
		{met("as it likes", 0), "COMPLETE after 36 s: its status says SuccessPolicy; 0 of 3 completions succeeded"},
		{changed(complete(1, 0), func(j *projector.Job) { j.Base.Conditions[0].Reason = "ByMagic" }), "COMPLETE after 36 s: reason ByMagic"},
		{changed(complete(0, 0), func(j *projector.Job) { j.Base.Conditions[0].Reason, j.Completions = "", 1 }), "COMPLETE after 36 s: its status says Complete; 0 of 1 completion succeeded"},
		{changed(complete(1, 0), func(j *projector.Job) { j.Spec = nil }), "COMPLETE after 36 s: 1 pod succeeded"},
		{changed(complete(1, 2), func(j *projector.Job) { j.Ends = append(j.Ends, tries(2, projector.TryStopped, nil)) }), "COMPLETE after 36 s: 1 pod succeeded; 2 pods were stopped"},
		{changed(failed(limit, 0), func(j *projector.Job) { j.Spec = nil }), "FAILED after 36 s: reason BackoffLimitExceeded"},
		{failed(events.Reason(long), 0), "FAILED after 36 s: reason a-name-a-name-a-name-a-na...name-a-name-"},
		{with(failed("OutOfLuck", 0), func(s *events.JobSpec) { s.ActiveDeadlineSeconds, s.MaxFailedIndexes = new(int64(3)), new(int32(3)) }), "FAILED after 36 s: reason OutOfLuck"},
		{job(func(j *projector.Job) { j.Created = 0 }), "UNFINISHED"},
	} {
		if got := verdict.Of(row.job); got != row.want {
			t.Errorf("\n\t%s\nwant\n\t%s", got, row.want)
		}
	}
}

// TestDoubtBeforeTheEnd: an interim condition says how a Job will end, and is held against the spec likewise.
func TestDoubtBeforeTheEnd(t *testing.T) {
	for _, row := range []struct{ kind, truth, reason, want string }{
		{status.FailureTarget, "True", "BackoffLimitExceeded", "1 failure, backoffLimit is 2"},
		{status.FailureTarget, "False", "BackoffLimitExceeded", ""},
		{status.SuccessCriteriaMet, "True", "SuccessPolicy", "it has no successPolicy"},
		{status.Suspended, "True", "SuccessPolicy", ""},
		{status.Failed, "True", "DeadlineExceeded", "activeDeadlineSeconds is not set"},
	} {
		j := over(row.kind, events.Reason(row.reason), 0, 1, func(j *projector.Job) { j.Base.Conditions[0].Status = row.truth })
		if got := verdict.Doubt(j); got != row.want {
			t.Errorf("%s=%s %s: %q, want %q", row.kind, row.truth, row.reason, got, row.want)
		}
	}
	first := events.JobCondition{Type: status.SuccessCriteriaMet, Status: "True", Reason: "SuccessPolicy"}
	for range 20 { // of two the first in the list counts, and always
		j := over(status.FailureTarget, "BackoffLimitExceeded", 0, 1, func(j *projector.Job) {
			j.Base.Conditions = append([]events.JobCondition{first}, j.Base.Conditions...)
		})
		if got := verdict.Doubt(j); got != "it has no successPolicy" {
			t.Fatalf("of two interim conditions the second counts: %q", got)
		}
	}
}

// TestVerdictsOnJobsWithPods: how many have not ended, and how many succeeded.
func TestVerdictsOnJobsWithPods(t *testing.T) {
	const s = events.Time(time.Second)
	for _, row := range []struct {
		phases  []events.PodPhase
		deleted events.Time
		gone    bool
		want    string
	}{
		{nil, 0, false, "UNFINISHED 9 s after its creation"},
		{[]events.PodPhase{events.PodRunning}, 0, false, "UNFINISHED 9 s after its creation: 1 pod has not ended"},
		{[]events.PodPhase{events.PodRunning, events.PodPending}, 0, false, "UNFINISHED 9 s after its creation: 2 pods have not ended"},
		{[]events.PodPhase{events.PodRunning, events.PodSucceeded}, 0, false, "UNFINISHED 9 s after its creation: 1 pod has not ended; 1 pod succeeded"},
		{[]events.PodPhase{events.PodRunning}, start + 5*s, false, "BEING DELETED 9 s after its creation, before its end: 1 pod has not ended"},
		{[]events.PodPhase{events.PodRunning, events.PodPending}, start + 5*s, true, "DELETED 9 s after its creation, before its end: 2 pods had not ended"},
	} {
		w, n, stream := projector.NewWorld(), events.Sequence(0), events.JobStream("uid")
		add := func(s events.Stream, kind events.Kind, f events.Facts) {
			n++
			w.Apply(&events.Record{Header: events.Header{Sequence: n, Time: start + 9*1e9, Stream: s, Kind: kind}, Facts: f, Evidence: events.Evidence{Namespace: "ns", Name: "demo"}})
		}
		settings := events.DefaultSettings()
		settings.Mode = events.ModeAll
		add(events.Controller, events.KindControllerStarted, &events.ControllerStarted{Settings: settings})
		add(stream, events.KindSpecStored, &events.JobSpec{Hash: "h", Completions: new(int32(3)), Parallelism: new(int32(3)), BackoffLimit: new(int32(6)), Template: "t"})
		add(stream, events.KindJobAdded, &events.JobSeen{Version: 1, Managed: true, Spec: "h", SpecAt: 2, Created: start, Deleted: row.deleted, Status: &events.JobStatus{Ready: events.Unset, Terminating: events.Unset}})
		for i, phase := range row.phases {
			uid := types.UID("p" + strconv.Itoa(i))
			add(stream, events.KindPodAdded, &events.PodSeen{UID: uid, Version: uint64(5 + i), Phase: phase, Owner: "uid", Index: events.NoIndex, Tracked: true, Selected: true})
		}
		j := w.Job(stream)
		if row.gone {
			add(stream, events.KindJobDeleted, &events.JobGone{Version: 9})
		}
		if got := verdict.Of(j); got != row.want {
			t.Errorf("%v: %s\nwant %s", row.phases, got, row.want)
		}
	}
}
