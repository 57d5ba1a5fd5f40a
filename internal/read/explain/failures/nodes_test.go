package failures

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/casetest"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestWhatANodeDid: a node is named as the cause only of what nodes do, and in a state in which it does that. The end
// of a pod by itself, or by somebody's request, is nothing that its node did, however the node was.
func TestWhatANodeDid(t *testing.T) {
	node := func(change func(*events.NodeSeen)) events.Facts {
		f := &events.NodeSeen{Name: "n", Ready: events.NodeReady}
		change(f)
		return f
	}
	states := map[string][]events.Facts{
		"unknown":   nil,
		"well":      {node(func(*events.NodeSeen) {})},
		"not ready": {node(func(f *events.NodeSeen) { f.Ready = events.NodeNotReady })},
		"cordoned":  {node(func(f *events.NodeSeen) { f.Cordoned = true })},
		"tainted":   {node(func(f *events.NodeSeen) { f.Taints = []string{"a", "b"} })},
		"gone":      {&events.NodeGone{Name: "n"}},
	}
	says := map[try.By]map[string]string{
		try.ByNodeGone: {"gone": "n was removed, so its pods were deleted; "},
		try.ByTaint: {
			"":        "n had a NoExecute taint, so its pods were deleted",
			"tainted": "n was tainted (a, b), so its pods were deleted; ",
		},
		try.ByEviction: {"cordoned": "n was cordoned, and its pods were evicted, as by a drain; "},
		try.ByKubelet:  {"": "the kubelet of n ended pods: no memory"},
	}
	for _, by := range []try.By{
		try.ByNobody, try.ByItself, try.ByOwnLimit, try.ByDeadline, try.BySignal, try.ByKubelet, try.ByEviction,
		try.ByPreemption,
		try.ByTaint, try.ByDevice, try.ByOther, try.ByNodeGone, try.ByUs, try.ByController, try.ByJobDeleted,
		try.ByNamespace,
		try.ByClient, try.ByNothing, try.ByUnknown,
	} {
		for state, seen := range states {
			c := casetest.NodesSeen(seen...)
			x := &try.Try{Pod: "p", Node: "n", Seen: whentest.Seen(1, 0), Created: whentest.Sec(0),
				DisruptedAt: whentest.Seen(9, 3)}
			x.Judged = &try.Ending{By: by, Why: " no memory. More of it."}
			want := says[by][state]
			if want == "" {
				want = says[by][""]
			}
			if got := nodeText(c, x); got != want && (!strings.HasSuffix(want, "; ") || !strings.HasPrefix(got, want)) {
				t.Errorf("%s, its node is %s: %q, want %q", by, state, got, want)
			}
			if x.Node = ""; nodeText(c, x) != "" {
				t.Errorf("%s: a pod without a node: %s", by, nodeText(c, x))
			}
		}
	}
	x := &try.Try{Pod: "p", Node: "n", Judged: &try.Ending{By: try.ByNodeGone, Why: "PodGC: node no longer exists"}}
	if got := nodeText(casetest.NodesSeen(), x); !strings.HasPrefix(got, "n was removed") {
		t.Errorf("it is said to be gone: %s", got)
	}
}
