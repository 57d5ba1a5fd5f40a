package failures

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/stuck"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestCausesThatDiffer have different words: by the reason of the end, the exit, its message, the node and the work; of
// messages only names and numbers are left out.
func TestCausesThatDiffer(t *testing.T) {
	ended := func(by try.By, why string, change func(*try.Try)) func(*jobcase.Case) {
		return func(c *jobcase.Case) {
			x := &try.Try{Pod: "demo-x1", Index: events.NoIndex, Phase: events.PodFailed, Node: "n1", Seen: whentest.Seen(4, 4), Started: whentest.Seen(5, 5),
				Ended: whentest.Seen(9, 9), Judged: &try.Ending{By: by, Why: why}}
			if change != nil {
				change(x)
			}
			c.Tries = append(c.Tries, x)
		}
	}
	exits := func(code int32, message string) func(*try.Try) {
		return func(x *try.Try) {
			x.Containers = []events.ContainerEnd{whentest.Exit("main", code, func(k *events.ContainerEnd) { k.Message = message })}
		}
	}
	waits := func(reason, message string) func(*try.Try) {
		return func(x *try.Try) {
			x.Phase, x.Ended, x.Started = events.PodPending, explain.Mark{}, explain.Mark{}
			x.Waits = []try.Waiting{{Reason: reason, Message: message}, {Reason: "ContainerCreating"}}
		}
	}
	crashed := func(message string) func(*try.Try) {
		return func(x *try.Try) {
			x.Phase, x.Ended = events.PodRunning, explain.Mark{}
			x.Crashed = []events.ContainerEnd{whentest.Exit("main", 2, func(k *events.ContainerEnd) { k.Message = message })}
		}
	}
	settled := func(reason string) func(*jobcase.Case) {
		return func(c *jobcase.Case) { c.Settled = &jobcase.Settling{Reason: reason} }
	}
	refused := func(class events.RefusalClass) func(*jobcase.Case) {
		return func(c *jobcase.Case) {
			c.Refusals = append(c.Refusals, &jobcase.Refusal{Class: class, Says: "exceeded quota: 7"})
		}
	}
	for _, row := range []struct {
		want    string
		changes []func(*jobcase.Case)
	}{
		{"ns/demo", nil},
		{"DeadlineExceeded: ns/demo", []func(*jobcase.Case){settled("DeadlineExceeded")}},
		{"ns/demo", []func(*jobcase.Case){settled("BackoffLimitExceeded")}},
		{"ns/demo", []func(*jobcase.Case){settled("FailedIndexes")}},
		{"ns/demo", []func(*jobcase.Case){settled("CompletionsReached")}},
		{"PodFailurePolicy: main exit 3 of ns/demo", []func(*jobcase.Case){settled("PodFailurePolicy"), ended(try.ByItself, "", exits(3, ""))}},
		{"main exit 3: no row #", []func(*jobcase.Case){ended(try.ByItself, "", exits(3, "no row 17"))}},
		{"main exit 3: no row #", []func(*jobcase.Case){settled("BackoffLimitExceeded"), ended(try.ByItself, "", exits(3, "no row 18"))}},
		{"n1 had a NoExecute taint, so its pods were deleted", []func(*jobcase.Case){ended(try.ByTaint, "it went", nil)}},
		{"taint: it went", []func(*jobcase.Case){ended(try.ByTaint, "it went", func(x *try.Try) { x.Node = "" })}},
		{"eviction API: it went", []func(*jobcase.Case){ended(try.ByEviction, "it went", nil)}},
		{"preemption: it went", []func(*jobcase.Case){ended(try.ByPreemption, "it went", nil)}},
		{"API client: it went of ns/demo", []func(*jobcase.Case){ended(try.ByClient, "it went", nil)}},
		{"API client, by force, of ns/demo", []func(*jobcase.Case){ended(try.ByClient, "it went", func(x *try.Try) { x.Forced = true })}},
		{"unknown: it went of ns/demo", []func(*jobcase.Case){ended(try.ByUnknown, "it went", nil)}},
		{"main exit 2: no #", []func(*jobcase.Case){ended(try.ByNobody, "", crashed("no 5"))}},
		{"main exit 2 of ns/demo", []func(*jobcase.Case){ended(try.ByNobody, "", crashed(""))}},
		{"DeadlineExceeded: ErrImagePull: not found", []func(*jobcase.Case){settled("DeadlineExceeded"), ended(try.ByNobody, "", waits("ErrImagePull", "not found"))}},
		{"ns/demo", []func(*jobcase.Case){ended(try.ByNobody, "", waits("ErrImagePull", "not found"))}},
		{"DeadlineExceeded: ns/demo", []func(*jobcase.Case){settled("DeadlineExceeded"), ended(try.ByNobody, "", waits("PodInitializing", ""))}},
		{"DeadlineExceeded: ns/demo", []func(*jobcase.Case){settled("DeadlineExceeded"), ended(try.ByNobody, "", func(x *try.Try) {
			waits("ErrImagePull", "not found")(x)
			x.Started = whentest.Seen(7, 7)
		})}},
		{"DeadlineExceeded: ns/demo", []func(*jobcase.Case){settled("DeadlineExceeded"), refused(events.RefusedNotFound)}},
		{"DeadlineExceeded: Quota: exceeded quota: #", []func(*jobcase.Case){settled("DeadlineExceeded"), refused(events.RefusedQuota)}},
	} {
		c := &jobcase.Case{Misses: &explain.Misses{}, Added: whentest.Seen(3, 1)}
		c.Job.Namespace, c.Job.Name, c.Job.Created, c.Job.AsOf.Time = "ns", "demo", whentest.Recorded(1), whentest.Recorded(100)
		for _, change := range row.changes {
			change(c)
		}
		if got := cause(c); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
	c := &jobcase.Case{Misses: &explain.Misses{}}
	c.Job.Namespace, c.Job.Name = "ns", "demo"
	for want, x := range map[string]*stuck.Stuckness{"cause": {Cause: "cause", Text: "text"}, "text": {Text: "text"}} {
		if got := stuckCause(c, x); got != want {
			t.Errorf("of a stuck Job: %q, want %q", got, want)
		}
	}
	ended(try.ByNobody, "", crashed("no 5"))(c)
	if got := stuckCause(c, &stuck.Stuckness{Text: "text"}); got != "main exit 2: no #" {
		t.Errorf("of one that crashes: %q", got)
	}
	if refused(events.RefusedQuota)(c); stuckCause(c, &stuck.Stuckness{Text: "text"}) != "Quota: exceeded quota: #" {
		t.Errorf("of a refused one: %q", stuckCause(c, &stuck.Stuckness{Text: "text"}))
	}
}
