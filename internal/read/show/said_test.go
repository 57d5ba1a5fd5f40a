package show

import (
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/which"
)

// TestWhatASearchFound: what was searched, and what was left out; of each result what its name does not say.
func TestWhatASearchFound(t *testing.T) {
	for _, row := range []struct {
		f    which.Pieces
		want string
	}{
		{which.Pieces{}, "0 found · of 0 Jobs and 0 CronJobs"},
		{which.Pieces{Items: make([]which.Match, 2), Jobs: 1, CronJobs: 3}, "2 found · of 1 Job and 3 CronJobs"},
		{which.Pieces{Jobs: 5, PodsOf: 1}, "0 found · of 5 Jobs and 0 CronJobs, and the pods of 1 Job"},
		{which.Pieces{Items: make([]which.Match, 1), Omitted: 4, Jobs: 5, Older: true},
			"1 found · 4 more match · of 5 Jobs and 0 CronJobs · these are the newest: older ones were not looked at"},
	} {
		if got := strings.Join(FoundHead(&row.f), " · "); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
	for _, row := range []struct {
		m          which.Match
		name, says string
	}{
		{which.Match{Kind: "Job", Namespace: "ns", Name: "a", UID: "u"}, "ns/a", "uid u"},
		{which.Match{Kind: "CronJob", Namespace: "ns", Name: "a", UID: "u"}, "ns/a", "uid u"},
		{which.Match{Kind: "pod", Namespace: "ns", Name: "a-x", Of: "ns/a", Record: 7, UID: "u"}, "ns/a-x",
			"of job ns/a  #7"},
		{which.Match{Kind: "record", Name: "a", Record: 7, Says: "PodAdded"}, "#7", "a PodAdded"},
		{which.Match{Kind: "record", Of: "ns/a", Record: 7, Says: "ControllerStarted"}, "#7", "ControllerStarted"},
	} {
		if name, says := matchName(&row.m), MatchText(&row.m); name != row.name || says != row.says {
			t.Errorf("%+v: %q, %q, want %q, %q", row.m, name, says, row.name, row.says)
		}
	}
}

// TestWordsOfSpans: each kind of span in a timeline has words of its own, and another one those of its name.
func TestWordsOfSpans(t *testing.T) {
	said := map[string]bool{}
	for _, m := range marksOf {
		if got := SpanSays(m.what); got != m.says || said[got] {
			t.Errorf("%s: %q, want %q", m.what, got, m.says)
		}
		said[m.says] = true
	}
	if got := SpanSays("resting"); got != "resting" || len(said) < 2 {
		t.Errorf("an unknown kind: %q", got)
	}
}

// TestNumbersOfTries: counted from 1, behind the index of a try that has one.
func TestNumbersOfTries(t *testing.T) {
	index := int32(0)
	for want, a := range map[string]attempts.Attempt{"2": {Try: 2}, "0 · 2": {Try: 2, Index: &index}} {
		if got := numbered(&a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

// TestNamesAreNarrowedToTheLeast: the widest column of names first, none below its least width, and none where that
// would not suffice.
func TestNamesAreNarrowedToTheLeast(t *testing.T) {
	for _, row := range []struct {
		widths []int
		names  []bool
		width  int
		want   []int
	}{
		{[]int{30, 40, 5}, []bool{true, true, false}, 100, []int{30, 40, 5}},
		{[]int{30, 40, 5}, []bool{true, true, false}, 30 + 40 + 2*gap, []int{30, 40, 5}},
		{[]int{30, 40, 5}, []bool{true, true, false}, 30 + 36 + 2*gap, []int{30, 36, 5}},
		{[]int{30, 40, 5}, []bool{true, true, false}, 28 + 29 + 2*gap, []int{28, 29, 5}},
		{[]int{30, 40, 5}, []bool{false, true, false}, 30 + leastName + 2*gap, []int{30, leastName, 5}},
		{[]int{30, 40, 5}, []bool{false, true, false}, 30 + leastName + 2*gap - 1, []int{30, 40, 5}},
		{[]int{30, leastName - 1, 5}, []bool{true, true, false}, leastName + leastName - 1 + 2*gap,
			[]int{leastName, leastName - 1, 5}},
		{[]int{30, leastName - 1, 5}, []bool{true, true, false}, leastName + leastName - 2 + 2*gap,
			[]int{30, leastName - 1, 5}},
		{[]int{30, 40, 5}, []bool{false, false, true}, 50, []int{30, 40, 5}},
	} {
		table := &Table{widths: append([]int(nil), row.widths...), names: row.names}
		table.shorten(row.width)
		for i, want := range row.want {
			if table.widths[i] != want {
				t.Errorf("%v to %d: %v, want %v", row.widths, row.width, table.widths, row.want)
				break
			}
		}
	}
}
