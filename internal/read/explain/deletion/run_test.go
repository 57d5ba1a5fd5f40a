package deletion

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestWhenATTLHasPassed: with its last second, of a Job that has ended.
func TestWhenATTLHasPassed(t *testing.T) {
	expires := &jobcase.Case{Spec: &events.JobSpec{TTLSecondsAfterFinished: new(int32(10))}}
	expires.Job.State, expires.Job.Finished = history.StateFailed, whentest.Recorded(20)
	for at, want := range map[float64]bool{29: false, 30: true, 31: true} {
		if expiredBefore(expires, whentest.Sec(at)) != want {
			t.Errorf("at %v its TTL had passed: %t", at, !want)
		}
	}
	if expires.Job.State = history.StateRunning; expiredBefore(expires, whentest.Sec(99)) {
		t.Error("the TTL of a Job that runs has passed")
	}
}

// TestWhoDeletedARun: what the records of a CronJob tell of the deletion of one of its Jobs, j, which was seen with
// record 50 in second 50.
func TestWhoDeletedARun(t *testing.T) {
	deletion := whentest.Seen(50, 50)
	type told struct {
		record events.Sequence
		n      float64
		facts  events.Facts
	}
	replace := func(f *events.CronJobSeen) { f.Policy = "Replace" }
	cron := func(record events.Sequence, change func(*events.CronJobSeen)) told {
		f := &events.CronJobSeen{Policy: "Forbid", KeepSucceeded: new(int32(1)), KeepFailed: new(int32(0))}
		if change != nil {
			change(f)
		}
		return told{record, float64(record), f}
	}
	run := func(record events.Sequence, created float64, uid types.UID, r events.JobResult) told {
		return told{record, float64(record),
			&events.RunSeen{Job: uid, Name: "run-" + string(uid), Created: whentest.Sec(created), Result: r}}
	}
	order := func(record events.Sequence, uid types.UID, replacing bool) told {
		return told{record, float64(record), &events.Decision{Steps: []events.Step{{Commands: []events.Command{
			&events.CreateJob{}, &events.DeleteRun{Job: uid, Replacing: replacing},
		}}}}}
	}
	ended := func(record, decided events.Sequence, uid types.UID, how events.Ending) told {
		return told{record, float64(record),
			&events.CommandEnded{Command: events.CommandID{Decided: decided}, Run: uid, Ending: how}}
	}
	complete, failed, none := events.ResultComplete, events.ResultFailed, events.ResultNone
	const (
		inferredLimit = "by the built-in CronJob controller (inferred): " +
			"more Jobs had ended than successfulJobsHistoryLimit 1 keeps"
		inferredNext = "by the built-in CronJob controller (inferred): replaced by run-k, which came "
	)
	for _, row := range []struct {
		name string
		ours bool
		told []told
		want string
		from int
	}{
		{"nothing tells", false, []told{cron(10, nil)}, "", 0},
		{"we replaced it", true, []told{order(40, "j", true), run(51, 51, "k", none)},
			"by Jobledger: replaced by run-k (concurrencyPolicy Replace)", 2},
		{"we are about to replace it", true, []told{order(40, "j", true)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"we replaced another one", true, []told{order(40, "x", true)}, "", 0},
		{"we did so behind its deletion", true, []told{order(51, "j", true)}, "", 0},
		{"that was refused", true, []told{order(40, "j", true), ended(41, 40, "j", events.Refused)}, "", 0},
		{"that was withdrawn", true, []told{order(40, "j", true), ended(41, 40, "j", events.Withdrawn)}, "", 0},
		{"that was done", true, []told{order(40, "j", true), ended(41, 40, "j", events.Done)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"that of another one was refused", true, []told{order(40, "j", true), ended(41, 40, "x", events.Refused)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"an order of before was refused", true, []told{order(40, "j", true), ended(41, 30, "j", events.Refused)},
			"by Jobledger: to be replaced by the next one (concurrencyPolicy Replace)", 1},
		{"over the limit of those that succeeded", true,
			[]told{cron(10, nil), run(20, 1, "j", complete), order(40, "j", false)},
			"by Jobledger: more Jobs had ended than successfulJobsHistoryLimit 1 keeps", 1},
		{"over the limit of those that failed", true, []told{cron(10, nil), run(20, 1, "j", failed), order(40, "j", false)},
			"by Jobledger: more Jobs had ended than failedJobsHistoryLimit 0 keeps", 1},
		{"over a limit that is not known", true, []told{run(20, 1, "j", failed), order(40, "j", false)},
			"by Jobledger: more Jobs had ended than the CronJob's history limits keep", 1},
		{"over a limit that is not set", true,
			[]told{cron(10, func(f *events.CronJobSeen) { f.KeepFailed = nil }), run(20, 1, "j", failed),
				order(40, "j", false)}, "by Jobledger: more Jobs had ended than the CronJob's history limits keep", 1},
		{"with its CronJob", false, []told{{45, 45, &events.CronJobGone{}}}, "with its CronJob c, which was deleted", 1},
		{"with its CronJob, which waits", false, []told{cron(45,
			func(f *events.CronJobSeen) { f.Deleted = whentest.Sec(45) })},
			"with its CronJob c, which was deleted", 1},
		{"a second before its CronJob is seen to go", false, []told{{51, 51, &events.CronJobGone{}}},
			"with its CronJob c, which was deleted", 1},
		{"two seconds before", false, []told{{52, 52, &events.CronJobGone{}}}, "", 0},
		{"two minutes behind its CronJob", false, []told{{10, 50 - 120, &events.CronJobGone{}}}, "", 0},
		{"almost two minutes behind it", false, []told{{10, 50 - 119, &events.CronJobGone{}}},
			"with its CronJob c, which was deleted", 1},
		{"ours, and the log has no order", true, []told{cron(10, replace), run(51, 51, "k", none)}, "", 0},
		{"the next one came at once", false, []told{cron(10, replace), run(51, 51, "k", none)},
			inferredNext + "1s later (concurrencyPolicy Replace)", 1},
		{"it came 9 s later", false, []told{cron(10, replace), run(59, 59, "k", none)},
			inferredNext + "9s later (concurrencyPolicy Replace)", 1},
		{"it came 10 s later", false, []told{cron(10, replace), run(60, 60, "k", none)}, "", 0},
		{"it was made 1 s before", false, []told{cron(10, replace), run(51, 49, "k", none)},
			inferredNext + "1s later (concurrencyPolicy Replace)", 1},
		{"it was made 2 s before", false, []told{cron(10, replace), run(51, 48, "k", none)}, "", 0},
		{"it was seen before", false, []told{cron(10, replace), run(49, 49, "k", none)}, "", 0},
		{"the next one of two", false, []told{cron(10, replace), run(51, 51, "k", none), run(52, 52, "l", none)},
			inferredNext + "1s later (concurrencyPolicy Replace)", 1},
		{"it had ended", false, []told{cron(10, replace), run(20, 1, "j", complete), run(51, 51, "k", none)}, "", 0},
		{"the policy is another", false, []told{cron(10, nil), run(51, 51, "k", none)}, "", 0},
		{"the policy was Replace later", false, []told{cron(10, nil), cron(51, replace), run(52, 52, "k", none)}, "", 0},
		{"one too many that succeeded", false, []told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete)},
			inferredLimit, 0},
		{"as many as it keeps", false, []told{cron(10, nil), run(20, 1, "j", complete)}, "", 0},
		{"the other one was gone by then", false,
			[]told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete), {30, 30, &events.RunGone{Job: "i"}}},
			"", 0},
		{"the other one goes later", false,
			[]told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete), {51, 51, &events.RunGone{Job: "i"}}},
			inferredLimit, 0},
		{"it is gone itself", false,
			[]told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", complete), {50, 50, &events.RunGone{Job: "j"}}},
			inferredLimit, 0},
		{"the other one ended later", false, []told{cron(10, nil), run(20, 1, "j", complete), run(51, 1, "i", complete)}, "",
			0},
		{"the other one failed", false, []told{cron(10, nil), run(20, 1, "j", complete), run(21, 1, "i", failed)}, "", 0},
	} {
		w := &jobcase.Owner{Job: "j", Ends: map[types.UID]events.JobResult{}, Ours: row.ours}
		for _, x := range row.told {
			kind := events.KindCronJobChanged
			if _, is := x.facts.(*events.Decision); is {
				kind = events.KindDecided
			}
			w.Learn(&events.Record{Header: events.Header{Sequence: x.record, Time: whentest.Sec(x.n), Kind: kind},
				Facts: x.facts},
				deletion)
		}
		by, unknown, from := byOwner(w, "c", deletion)
		if by != row.want || len(from) != row.from {
			t.Errorf("%s: %q by %d records, want %q", row.name, by, len(from), row.want)
		}
		if strings.HasPrefix(by, "with its CronJob") != (unknown != "") {
			t.Errorf("%s: of %q it says %q", row.name, by, unknown)
		}
	}
}

// TestHistoryLimits: a Job is one too many only by a limit that is known and set, among those of its own result.
func TestHistoryLimits(t *testing.T) {
	const complete, failed = events.ResultComplete, events.ResultFailed
	both := &events.CronJobSeen{KeepSucceeded: new(int32(2)), KeepFailed: new(int32(0))}
	for _, row := range []struct {
		name             string
		spec             *events.CronJobSeen
		succeeded, fails int
		of               events.JobResult
		want             bool
	}{
		{"the CronJob is unknown", nil, 9, 9, complete, false},
		{"it keeps all", &events.CronJobSeen{}, 9, 9, complete, false},
		{"it keeps all that failed", &events.CronJobSeen{KeepSucceeded: new(int32(0))}, 9, 9, failed, false},
		{"it keeps all that succeeded", &events.CronJobSeen{KeepFailed: new(int32(0))}, 9, 9, complete, false},
		{"one more", both, 3, 0, complete, true},
		{"as many", both, 2, 9, complete, false},
		{"one failed", both, 0, 1, failed, true},
		{"none failed", both, 9, 0, failed, false},
	} {
		w := &jobcase.Owner{Spec: row.spec, Ends: map[types.UID]events.JobResult{}}
		for n := range row.succeeded + row.fails {
			result := complete
			if n >= row.succeeded {
				result = failed
			}
			w.Ends[types.UID(rune('a'+n))] = result
		}
		if overLimit(w, row.of) != row.want {
			t.Errorf("%s: over the limit: %t", row.name, !row.want)
		}
	}
}
