package show

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/which"
	"github.com/jobledger/jobledger/internal/say/words"
)

// TestTextsThatJustFit: the beginning and the end of a text have as many columns as there are, and no column is left
// where another character fits. Characters of two columns are not halved.
func TestTextsThatJustFit(t *testing.T) {
	for _, text := range []string{"", "a", "abc", "日本語", "a日b本", "e\u0301a", "\u10ff\u1100x"} {
		for width := range columns(text) + 2 {
			front, back := head(text, width), tail(text, width)
			are := strings.HasPrefix(text, front) && strings.HasSuffix(text, back)
			if !are || columns(front) > width || columns(back) > width {
				t.Errorf("%q in %d columns: %q and %q", text, width, front, back)
			}
			for _, r := range strings.TrimPrefix(text, front) {
				if columns(front)+columnsOf(r) <= width {
					t.Errorf("%q in %d columns begins with %q only", text, width, front)
				}
				break
			}
			rest := []rune(strings.TrimRight(strings.TrimSuffix(text, back), "\u0301")) // an accent stays with its letter
			if len(rest) > 0 && columns(back)+columnsOf(rest[len(rest)-1]) <= width {
				t.Errorf("%q in %d columns ends with %q only", text, width, back)
			}
		}
	}
	if before, first := columnsOf(0x10ff), columnsOf(0x1100); before != 1 || first != 2 {
		t.Errorf("the first character of two columns is U+1100: U+10FF has %d, U+1100 %d", before, first)
	}
}

// TestPodsThatJustFit: all pods of a Job stand there as long as no more are there than a page shows; of more, the page
// says how many it leaves out. With -o wide all stand there.
func TestPodsThatJustFit(t *testing.T) {
	for _, n := range []int{1, maxPods - 1, maxPods, maxPods + 1, maxPods + 7} {
		for _, wide := range []bool{false, true} {
			j := history.Job{}
			for i := range n {
				j.Pods = append(j.Pods, history.Pod{Name: fmt.Sprintf("pod-%d-x", i)})
			}
			var out bytes.Buffer
			p := Page{Out: &out, Width: 100, Wide: wide}
			if err := p.pods(&j); err != nil {
				t.Fatal(err)
			}
			left := max(n-maxPods, 0)
			if wide {
				left = 0
			}
			says := fmt.Sprintf("and %d more", left)
			shown, told := strings.Count(out.String(), "pod-"), strings.Contains(out.String(), says)
			if shown != n-left || told != (left > 0) {
				t.Errorf("of %d pods, wide %t, %d are shown:\n%s", n, wide, shown, &out)
			}
		}
	}
}

// TestWhenSomethingWasFound: since its creation, else since it was seen; "-" for neither.
func TestWhenSomethingWasFound(t *testing.T) {
	p := Page{Zone: words.Zone{}}
	for want, m := range map[string]which.Match{
		"-": {}, "1970-01-01 00:00:01": {At: 1_000_000_000},
		"1970-01-01 00:00:02": {Created: 2_000_000_000, At: 1_000_000_000},
	} {
		if got := p.since(&m); got != want {
			t.Errorf("%+v is since %q, want %q", m, got, want)
		}
	}
}

// TestAListOfTriesAsTexts: each column has its head, whatever pods wrote is plain, and a try that did not fail is no
// failure.
func TestAListOfTriesAsTexts(t *testing.T) {
	index := int32(4)
	rows := []attempts.Attempt{
		{
			Try: 1, Pod: "demo-\x1b[31ma", Node: "node-1", EndedBy: try.ByItself, Counted: try.CountedFailed,
			Failure: 2,
		},
		{Index: &index, Try: 2, EndedBy: try.ByItself, Counted: try.CountedSucceeded},
		{Index: &index, Try: 3, EndedBy: try.ByNobody},
	}
	heads, cells := AttemptCells(rows, words.Zone{})
	want := map[string]string{"try": "1", "node": "node-1", "started": "-", "counted": "failure 2"}
	if len(heads) != 9 || len(cells) != len(rows) {
		t.Fatalf("%d heads, %d rows", len(heads), len(cells))
	}
	for i, h := range heads {
		for k := range cells {
			if len(cells[k]) != len(heads) {
				t.Fatalf("row %d has %d cells", k, len(cells[k]))
			}
			if strings.Contains(cells[k][i], "\x1b") || cells[k][i] == "" && h != "ended by" && h != "exit" {
				t.Errorf("%s of row %d is %q", h, k, cells[k][i])
			}
		}
		if says := want[h]; says != "" && !strings.Contains(cells[0][i], says) {
			t.Errorf("%s is %q, want %q", h, cells[0][i], says)
		}
	}
	if cells[1][0] != "4 · 2" || cells[1][2] != "-" {
		t.Errorf("the try of an index: %q", cells[1])
	}
	for i, fails := range []bool{true, false, false} {
		if AttemptFailed(&rows[i]) != fails {
			t.Errorf("row %d fails: %t", i, !fails)
		}
	}
}
