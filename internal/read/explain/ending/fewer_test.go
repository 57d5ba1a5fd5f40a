package ending

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/casetest"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestWhyFewerPodsWereWanted: the edit that was a reason to delete a pod, which was seen in second 50 with record 50,
// and existed since second 10 with one other pod.
func TestWhyFewerPodsWereWanted(t *testing.T) {
	spec := func(suspend bool, parallelism int32) *events.JobSpec {
		return &events.JobSpec{Suspend: suspend, Parallelism: &parallelism}
	}
	edit := func(record events.Sequence, at float64, before, after *events.JobSpec) jobcase.Edit {
		return jobcase.Edit{At: whentest.Seen(record, at), Before: before, After: after}
	}
	deletion := whentest.Seen(50, 50)
	for _, row := range []struct {
		name  string
		edits []jobcase.Edit
		other try.Try
		by    events.Sequence
		says  string
	}{
		{"no edit", nil, try.Try{}, 0, ""},
		{"suspended", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(true, 2))}, try.Try{}, 40, "the Job was suspended"},
		{"suspended, and more", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(true, 2)),
			edit(41, 41, spec(true, 2), spec(true, 3))}, try.Try{}, 40, "the Job was suspended"},
		{"it was suspended before and after", []jobcase.Edit{edit(40, 40, spec(true, 2), spec(true, 2))}, try.Try{}, 0, ""},
		{"fewer, while it was suspended", []jobcase.Edit{edit(40, 40, spec(true, 2), spec(true, 1))}, try.Try{}, 40,
			"fewer pods were wanted: parallelism 2 → 1"},
		{"seen 3 s later", []jobcase.Edit{edit(51, 53, spec(false, 2), spec(true, 2))}, try.Try{}, 51,
			"the Job was suspended"},
		{"seen 4 s later", []jobcase.Edit{edit(51, 54, spec(false, 2), spec(true, 2))}, try.Try{}, 0, ""},
		{"an edit before the later one", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(true, 2)),
			edit(60, 60, spec(true, 2), spec(false, 2))}, try.Try{}, 40, "the Job was suspended"},
		{"3 s before the pod", []jobcase.Edit{edit(5, 7, spec(false, 2), spec(true, 2))}, try.Try{}, 5,
			"the Job was suspended"},
		{"4 s before the pod", []jobcase.Edit{edit(5, 6, spec(false, 2), spec(true, 2))}, try.Try{}, 0, ""},
		{"resumed long before", []jobcase.Edit{edit(20, 20, spec(false, 2), spec(true, 2)),
			edit(40, 40, spec(true, 2), spec(false, 2))}, try.Try{}, 0, ""},
		{"resumed with fewer, long before", []jobcase.Edit{edit(40, 40, spec(true, 2), spec(false, 1))}, try.Try{}, 0, ""},
		{"resumed 3 s before", []jobcase.Edit{edit(20, 20, spec(false, 2), spec(true, 2)),
			edit(40, 47, spec(true, 2), spec(false, 2))}, try.Try{}, 20, "the Job was suspended"},
		{"fewer", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(false, 1))}, try.Try{}, 40,
			"fewer pods were wanted: parallelism 2 → 1"},
		{"more", []jobcase.Edit{edit(40, 40, spec(false, 1), spec(false, 2))}, try.Try{}, 0, ""},
		{"as many", []jobcase.Edit{edit(40, 40, spec(false, 1), spec(false, 1))}, try.Try{}, 0, ""},
		{"as few as there were", []jobcase.Edit{edit(40, 40, spec(false, 3), spec(false, 2))}, try.Try{}, 0, ""},
		{"the other had ended", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(false, 1))},
			try.Try{Ended: whentest.Seen(45, 45)}, 0, ""},
		{"the other ended then", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(false, 1))},
			try.Try{Ended: whentest.Seen(50, 50)}, 40, "fewer pods were wanted: parallelism 2 → 1"},
		{"the other was being deleted", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(false, 1))},
			try.Try{AskedSeen: whentest.Seen(45, 45)}, 0, ""},
		{"the other came later", []jobcase.Edit{edit(40, 40, spec(false, 2), spec(false, 1))},
			try.Try{Seen: whentest.Seen(51, 51)}, 0, ""},
	} {
		x := &try.Try{Seen: whentest.Seen(10, 10), AskedSeen: deletion}
		if row.other.Seen.Record == 0 {
			row.other.Seen = whentest.Seen(11, 10)
		}
		c := &jobcase.Case{Edits: row.edits, Tries: []*try.Try{x, &row.other}}
		by, says := fewerWanted(c, x, deletion)
		if by.Record != row.by || !strings.HasPrefix(says, row.says) || (says == "") != (row.says == "") {
			t.Errorf("%s: %q by %d, want %q by %d", row.name, says, by.Record, row.says, row.by)
		}
	}
}

// TestWhatNobodyRecordsOfANode: who set a taint, and who deleted a node, is in no record.
func TestWhatNobodyRecordsOfANode(t *testing.T) {
	seen := func(taints ...string) *events.NodeSeen {
		return &events.NodeSeen{Name: "n", Ready: events.NodeNotReady, Taints: taints}
	}
	const setBy, deletedBy = "who set it is unknown", "who deleted n is unknown"
	for _, row := range []struct {
		name string
		e    try.Ending
		node events.Facts
		want string
		why  string
	}{
		{"a taint of an unknown node", try.Ending{By: try.ByTaint}, nil,
			"which taint it was, and who set it, is unknown", ""},
		{"a taint", try.Ending{By: try.ByTaint, Why: " tainted. "}, seen("a"), setBy,
			"tainted; node n NotReady, taint a:NoExecute, seen "},
		{"no taint is seen", try.Ending{By: try.ByTaint}, seen(), "", "node n NotReady, seen "},
		{"it is gone", try.Ending{By: try.ByTaint}, &events.NodeGone{Name: "n"}, "",
			"the object of node n was deleted, seen "},
		{"gone", try.Ending{By: try.ByNodeGone}, &events.NodeGone{Name: "n"}, deletedBy,
			"the object of node n was deleted, seen "},
		{"gone, by its message", try.Ending{By: try.ByNodeGone, Why: "node no longer exists"}, nil, deletedBy,
			"node no longer exists"},
		{"gone, by its message, and it is seen", try.Ending{By: try.ByNodeGone, Why: "node no longer exists."}, seen(),
			deletedBy, "node no longer exists; node n NotReady, seen "},
		{"not gone", try.Ending{By: try.ByNodeGone, Why: "terminating"}, seen(), "", "terminating; node n NotReady, seen "},
		{"not known to be gone", try.Ending{By: try.ByNodeGone, Why: "terminating"}, nil, "", "terminating"},
		{"by its kubelet, and it is gone", try.Ending{By: try.ByKubelet}, &events.NodeGone{Name: "n"}, "",
			"the object of node n was deleted, seen "},
		{"it is said already", try.Ending{By: try.ByNodeGone, Unsaid: explain.ByWhom}, &events.NodeGone{Name: "n"},
			explain.ByWhom, "the object of node n was deleted, seen "},
	} {
		c := &jobcase.Case{}
		if row.node != nil {
			c = casetest.NodesSeen(row.node)
		}
		got := withNode(c, &try.Try{Node: "n", Seen: whentest.Seen(1, 0)}, row.e, whentest.Seen(9, 4))
		if got.Unsaid != row.want || !strings.HasPrefix(got.Why, row.why) || (len(got.Marks) == 1) != (row.node != nil) {
			t.Errorf("%s: %q, %q by %v, want %q, %q", row.name, got.Unsaid, got.Why, got.Marks, row.want, row.why)
		}
	}
}
