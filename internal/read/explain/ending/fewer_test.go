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
	"github.com/jobledger/jobledger/reconciler"
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

// TestTheEditBehindADeletionOfOurs: the newest edit to fewer pods of the five seconds before our deletion, which is
// record 50 of second 50, of a pod that existed by then; no edit that came later.
func TestTheEditBehindADeletionOfOurs(t *testing.T) {
	spec := func(suspend bool, parallelism int32) *events.JobSpec {
		return &events.JobSpec{Suspend: suspend, Parallelism: &parallelism}
	}
	edit := func(record events.Sequence, at float64, before, after *events.JobSpec) jobcase.Edit {
		return jobcase.Edit{At: whentest.Seen(record, at), Before: before, After: after}
	}
	fewer := edit(49, 48, spec(false, 3), spec(false, 1))
	for _, row := range []struct {
		name  string
		edits []jobcase.Edit
		by    events.Sequence // 0 for none
	}{
		{"no edit", nil, 0},
		{"fewer pods", []jobcase.Edit{fewer}, 49},
		{"more pods", []jobcase.Edit{edit(49, 48, spec(false, 1), spec(false, 3))}, 0},
		{"fewer, then more", []jobcase.Edit{edit(47, 47, spec(false, 3), spec(false, 1)), edit(49, 48, spec(false, 1),
			spec(false, 2))}, 47},
		{"an edit of later is passed over", []jobcase.Edit{fewer, edit(51, 50.5, spec(false, 1), spec(true, 1))}, 49},
		{"only an edit of later", []jobcase.Edit{edit(51, 50.5, spec(false, 1), spec(true, 1))}, 0},
		{"five seconds before", []jobcase.Edit{edit(49, 45, spec(false, 3), spec(false, 1))}, 49},
		{"longer before", []jobcase.Edit{edit(49, 44.9, spec(false, 3), spec(false, 1))}, 0},
		{"before the pod", []jobcase.Edit{edit(9, 48, spec(false, 3), spec(false, 1))}, 0},
	} {
		got := events.Sequence(0)
		if e := editBehind(&jobcase.Case{Edits: row.edits}, &try.Try{Seen: whentest.Seen(10, 10)}, whentest.Seen(50, 50)); e != nil {
			got = e.At.Record
		}
		if got != row.by {
			t.Errorf("%s: record %d, want %d", row.name, got, row.by)
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

// TestWhyAnIndexHadAPodTooMany: of a pod of index 1 that we deleted with record 50, by the spec of then and by the other
// pods of then.
func TestWhyAnIndexHadAPodTooMany(t *testing.T) {
	const another, none, fewer = "another pod had its index", "its index needed no pod",
		"completions is 1 by then, so its index is none of the Job's"
	spec := func(n int32) *events.JobSpec { return &events.JobSpec{Completions: &n} }
	pod := func(change func(*try.Try)) *try.Try {
		x := &try.Try{Index: 1, Seen: whentest.Seen(20, 20)}
		change(x)
		return x
	}
	ended := func(record events.Sequence, phase events.PodPhase) *try.Try {
		return pod(func(x *try.Try) { x.Ended, x.Phase = whentest.Seen(record, float64(record)), phase })
	}
	for _, row := range []struct {
		name  string
		other *try.Try
		spec  *events.JobSpec
		edit  *jobcase.Edit
		want  string
	}{
		{"alone", nil, spec(2), nil, none},
		{"an index too high", nil, spec(1), nil, fewer},
		{"an index too high by now", nil, spec(1), &jobcase.Edit{At: whentest.Seen(51, 51), Before: spec(2), After: spec(1)},
			none},
		{"an index too high since just then", nil, spec(1),
			&jobcase.Edit{At: whentest.Seen(50, 50), Before: spec(2), After: spec(1)}, fewer},
		{"no completions", nil, &events.JobSpec{}, nil, none},
		{"of no known spec", nil, nil, nil, none},
		{"beside one that runs", pod(func(*try.Try) {}), spec(2), nil, another},
		{"beside one of another index", pod(func(x *try.Try) { x.Index = 0 }), spec(2), nil, none},
		{"beside one that came then", pod(func(x *try.Try) { x.Seen = whentest.Seen(50, 50) }), spec(2), nil, none},
		{"beside one that nobody saw", pod(func(x *try.Try) { x.Seen = explain.Mark{} }), spec(2), nil, none},
		{"behind one that failed", ended(49, events.PodFailed), spec(2), nil, none},
		{"beside one that fails then", ended(50, events.PodFailed), spec(2), nil, another},
		{"behind one that succeeded", ended(49, events.PodSucceeded), spec(2), nil, another},
		{"behind one that was gone", pod(func(x *try.Try) { x.Gone = whentest.Seen(49, 49) }), spec(2), nil, none},
	} {
		x := pod(func(x *try.Try) { x.Deleted, x.DeletedReason = whentest.Seen(50, 50), reconciler.DuplicateIndex })
		c := &jobcase.Case{Spec: row.spec, Tries: []*try.Try{x}}
		if row.other != nil {
			c.Tries = append(c.Tries, row.other)
		}
		if row.edit != nil {
			c.Edits = []jobcase.Edit{*row.edit}
		}
		if got := stopWhy(c, x); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}
