package picture

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/attempts"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// TestManyLanesHavePages: of 1,000 indexes those that succeeded at once are one line. Each of the others is on one page,
// those with a failed try before those that run still. A page says which lanes it has. The timeline stays as it is.
func TestManyLanesHavePages(t *testing.T) {
	const all, failed, running = 1000, 250, 30
	at := func(s int) recordjson.Instant {
		return recordjson.Instant(1_700_000_000_000_000_000 + int64(s)*1_000_000_000)
	}
	line := &attempts.Timeline{From: at(0), To: at(100)}
	for i := range all {
		n := int32(i)
		l := attempts.Lane{Name: fmt.Sprintf("index-%04d", i), Index: &n, Spans: []attempts.Span{{What: "running", From: at(1), To: at(9)}}}
		switch {
		case i >= all-failed:
			l.Ends = []attempts.End{{At: at(9)}}
		case i >= running:
			l.Ends = []attempts.End{{At: at(9), Succeeded: true}}
		}
		line.Rows = append(line.Rows, l)
	}
	if n := Pages(line); n != 2 {
		t.Fatalf("%d pages", n)
	}
	seen := map[string]int{}
	for page, says := range []string{"lanes 1 to 200 of 280", "lanes 201 to 280 of 280", "lanes 201 to 280 of 280"} {
		svg := string(Timeline(line, Options{Page: page}))
		if !strings.Contains(svg, says) || !strings.Contains(svg, "720 indexes succeeded at the first try") {
			t.Errorf("page %d does not say %q", page, says)
		}
		for i := range all {
			if page < 2 && strings.Contains(svg, fmt.Sprintf(">index-%04d<", i)) {
				seen[line.Rows[i].Name] += page + 1
			}
		}
	}
	for i := range all {
		want := 0
		switch {
		case i < running: // behind those that failed
			want = 2
		case i >= all-failed && i < all-50:
			want = 1
		case i >= all-50:
			want = 2
		}
		if got := seen[line.Rows[i].Name]; got != want {
			t.Errorf("%s is on page %d, want %d", line.Rows[i].Name, got, want)
		}
	}
	if line.More != 0 {
		t.Errorf("the timeline says that it lacks %d", line.More)
	}
	few := &attempts.Timeline{From: at(0), To: at(100), Rows: line.Rows[:200]}
	if svg := string(Timeline(few, Options{})); Pages(few) != 1 || strings.Contains(svg, "lanes 1 to") {
		t.Error("200 lanes have pages")
	}
}
