package verdicts

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/casetest"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestCausesOfANode: what a verdict says of the node of a pod that was disrupted, by what the log has seen of the node.
func TestCausesOfANode(t *testing.T) {
	const noMore = "PodGC: node no longer exists"
	seen := func(change func(*events.NodeSeen)) events.Facts {
		f := &events.NodeSeen{Name: "n", Ready: events.NodeReady}
		change(f)
		return f
	}
	notReady := seen(func(f *events.NodeSeen) { f.Ready = events.NodeNotReady })
	cordoned := seen(func(f *events.NodeSeen) { f.Cordoned = true })
	tainted := seen(func(f *events.NodeSeen) { f.Taints = []string{"a", "b"} })
	gone := &events.NodeGone{Name: "n"}
	for _, row := range []struct {
		name  string
		by    try.By
		why   string
		start float64 // of the pod; 0 for none
		nodes []events.Facts
		does  string
		says  string
	}{
		{"evicted, and the node is unknown", try.ByEviction, "", 0, nil, "", ""},
		{"evicted, and the node is cordoned", try.ByEviction, "", 0, []events.Facts{cordoned}, "", "n was cordoned"},
		{"evicted, and the node is not ready", try.ByEviction, "", 0, []events.Facts{notReady}, "", ""},
		{"evicted, and the node is gone", try.ByEviction, "", 0, []events.Facts{gone}, "", ""},
		{"evicted, and the node was cordoned just before", try.ByEviction, "", 0, []events.Facts{cordoned, notReady}, "",
			"n was cordoned"},
		{"tainted, and the node is unknown", try.ByTaint, "", 0, nil, "deleted for a taint of n", ""},
		{"tainted", try.ByTaint, "", 0, []events.Facts{tainted}, "deleted for taint a, b of n", ""},
		{"tainted, and the node is gone", try.ByTaint, "", 0, []events.Facts{gone}, "deleted for a taint of n", ""},
		{"tainted, and no taint is seen", try.ByTaint, "", 0, []events.Facts{notReady}, "deleted for a taint of n",
			"node n NotReady"},
		{"gone", try.ByNodeGone, noMore, 0, []events.Facts{gone}, "deleted as its node was gone", "n was deleted"},
		{"gone, and it ran", try.ByNodeGone, noMore, 0.5, []events.Facts{gone}, "deleted as its node was gone",
			"n was deleted 500ms after the pod's start"},
		{"gone as it started", try.ByNodeGone, noMore, 1, []events.Facts{gone}, "deleted as its node was gone",
			"n was deleted"},
		{"gone before it started", try.ByNodeGone, noMore, 1.5, []events.Facts{gone}, "deleted as its node was gone",
			"n was deleted"},
		{"gone, and that is not seen", try.ByNodeGone, noMore, 0, nil, "deleted as its node was gone", "n was removed"},
		{"for another reason", try.ByNodeGone, "PodGC: terminating", 0, nil, "deleted by the pod garbage collector",
			"terminating"},
		{"for another reason, and the node is seen", try.ByNodeGone, "PodGC: terminating", 0, []events.Facts{notReady},
			"deleted by the pod garbage collector", "terminating"},
	} {
		c := casetest.NodesSeen(row.nodes...)
		x := &try.Try{Node: "n", Seen: whentest.Seen(1, 0), DisruptedAt: whentest.Seen(9, 4)}
		if row.start != 0 {
			x.Started = whentest.Seen(2, row.start)
		}
		of := map[try.By]func(*jobcase.Case, *try.Try, *try.Ending) cause{
			try.ByEviction: evicted, try.ByTaint: taint, try.ByNodeGone: nodeGone,
		}[row.by]
		if got := of(c, x, &try.Ending{By: row.by, Why: row.why}); got.does != row.does || got.why.Whole != row.says {
			t.Errorf("%s: %q, %q, want %q, %q", row.name, got.does, got.why.Whole, row.does, row.says)
		}
	}
}

// TestCausesOfADeletion: who deleted a pod before its end, as far as it is known.
func TestCausesOfADeletion(t *testing.T) {
	for _, row := range []struct {
		e      try.Ending
		forced bool
		want   string
	}{
		{try.Ending{By: try.ByNamespace}, true, "deleted with its namespace"},
		{try.Ending{By: try.ByJobDeleted}, true, "deleted with its Job"},
		{try.Ending{By: try.ByClient, Why: "deleted: x"}, true, "deleted by an API client, by force"},
		{try.Ending{By: try.ByClient, Why: "deleted: x"}, false, "deleted by an API client"},
		{try.Ending{By: try.ByUnknown, Why: "deleted by someone: x"}, true, "deleted by someone"},
		{try.Ending{By: try.ByUnknown, Why: "gone: x"}, true, ""},
	} {
		if got := deleted(nil, &try.Try{Forced: row.forced}, &row.e); got.does != row.want {
			t.Errorf("%+v, by force %t: %q, want %q", row.e, row.forced, got.does, row.want)
		}
	}
}

// TestNumbersThatAVerdictExplains: tries are counted only where they come to what the verdict says.
func TestNumbersThatAVerdictExplains(t *testing.T) {
	n := events.Sequence(0)
	ended := func(by try.By) *try.Try {
		n++
		return &try.Try{Ended: whentest.Seen(n, 1), Judged: &try.Ending{By: by, Marks: []explain.Mark{whentest.Seen(n, 1),
			whentest.Seen(100+n, 1)}}}
	}
	exited := func(code int32) *try.Try {
		x := ended(try.ByItself)
		x.Containers = []events.ContainerEnd{whentest.Exit("main", code, nil)}
		return x
	}
	fine := ended(try.ByClient)
	fine.Phase = events.PodSucceeded
	us, client, noOne := ended(try.ByController), ended(try.ByClient), ended(try.ByNodeGone)
	for _, row := range []struct {
		verdict string
		tries   []*try.Try
		want    string
	}{
		{"1 failed, 2 deleted", []*try.Try{us, us}, ", 2 stopped as the Job failed [] 4"},
		{"1 failed, 2 deleted", []*try.Try{us, us, noOne, exited(1), fine}, ", 2 stopped as the Job failed [] 4"},
		{"1 failed, 2 deleted", []*try.Try{us}, ""},
		{"1 failed, 1 deleted", []*try.Try{us, us}, ""},
		{"1 failed, 1 deleted", []*try.Try{us, client}, ""},
		{"1 failed, 1 deleted", []*try.Try{client, us}, ""},
		{"1 failed, 0 deleted", []*try.Try{client}, ""},
		{"2 tries did not succeed", []*try.Try{exited(3), exited(3)}, "2 tries did not succeed [ended by: main exit 3 ×2] 1"},
		{"2 tries did not succeed", []*try.Try{fine, exited(3), fine, noOne},
			"2 tries did not succeed [ended by: main exit 3 ×1, node gone ×1] 2"},
		{"2 tries did not succeed", []*try.Try{exited(3), exited(3), exited(3)}, "2 tries did not succeed [] 0"},
		{"4 tries did not succeed", []*try.Try{exited(1), exited(2), exited(3), noOne},
			"4 tries did not succeed [ended by: main exit 1 ×1, main exit 2 ×1, main exit 3 ×1, node gone ×1] 4"},
		{"5 tries did not succeed", []*try.Try{exited(1), exited(2), exited(3), exited(4), noOne},
			"5 tries did not succeed [] 0"},
		{"1 pod was stopped", []*try.Try{us}, ""},
	} {
		got := ""
		for _, f := range stopped(&jobcase.Case{Tries: row.tries}, row.verdict) {
			says := ""
			for _, b := range f.brackets {
				says += b.Whole
			}
			got += fmt.Sprintf("%s [%s] %d", f.does, says, len(f.from))
		}
		if got != row.want {
			t.Errorf("%s, of %d tries: %q, want %q", row.verdict, len(row.tries), got, row.want)
		}
	}
}
