package show_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/read/show"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// TestOverlaps: a run is listed with those that ran when it started.
func TestOverlaps(t *testing.T) {
	day := time.Date(2026, 3, 27, 3, 0, 0, 0, time.UTC)
	run := func(name string, from, to int, gone bool) history.Summary {
		at := func(minutes int) recordjson.Instant {
			if minutes < 0 {
				return 0
			}
			return recordjson.Instant(events.At(day.Add(time.Duration(minutes) * time.Minute)))
		}
		return history.Summary{Name: name, UID: name, Started: at(from), Finished: at(to), Gone: gone}
	}
	for _, row := range []struct {
		sentence string
		runs     []history.Summary
		want     string // names, and beside which
	}{
		{"one after the other", []history.Summary{run("b", 10, 20, false), run("a", 0, 10, false)}, ""},
		{"the second began before the end of the first", []history.Summary{run("b", 5, 20, false), run("a", 0, 10, false)}, "b: a"},
		{"both began at once", []history.Summary{run("b", 0, 20, false), run("a", 0, 10, false)}, "b: a"},
		{"the first runs still", []history.Summary{run("b", 50, -1, false), run("a", 0, -1, false)}, "b: a"},
		{"when the first ended is unknown", []history.Summary{run("b", 50, 60, false), run("a", 0, -1, true)}, ""},
		{"a run that never started", []history.Summary{run("b", -1, 60, false), run("a", 0, 90, false)}, ""},
		{"three", []history.Summary{run("c", 20, 21, false), run("b", 10, 30, false), run("a", 0, 40, true)}, "c: a, b; b: a"},
	} {
		var got []string
		_, rows, of := (&show.Page{}).Overlaps(row.runs)
		for i, cells := range rows {
			got = append(got, cells[0]+": "+cells[3])
			if of[i].Name != cells[0] {
				t.Errorf("%s: row %d is of %s", row.sentence, i, of[i].Name)
			}
		}
		if diff := cmp.Diff(row.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s: %s", row.sentence, diff)
		}
	}
}
