package explain_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/job"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestAPodWhoseNodeIsGoneRanAtMost: pod garbage collection says that a pod failed long after its node went. Nobody saw
// its containers stop.
func TestAPodWhoseNodeIsGoneRanAtMost(t *testing.T) {
	seen := 0
	for _, dir := range logs(t) {
		if name := filepath.Base(dir); name != "delegated" && name != "observed" {
			continue
		}
		src := openRecorded(t, dir)
		c, err := job.Read(t.Context(), src, src.job(t, "node-lost/train"), history.Point{})
		if err != nil {
			t.Fatal(err)
		}
		rows, _ := c.Attempts(false, 0, 100)
		for i := range rows {
			if rows[i].EndedBy != try.ByNodeGone {
				continue
			}
			seen++
			if !rows[i].RanAtMost {
				t.Errorf("%s: %s is said to have run for %s", dir, rows[i].Pod, rows[i].Ran)
			}
		}
		for _, part := range c.Answer().Sections {
			for i := range part.Sentences {
				if text := part.Sentences[i].Text; strings.HasPrefix(text, "work lost: ") && !strings.HasPrefix(text, "work lost: at most ") {
					t.Errorf("%s: it says %q", dir, text)
				}
			}
		}
	}
	if seen < 2 {
		t.Errorf("only %d pods went with their node", seen)
	}
}
