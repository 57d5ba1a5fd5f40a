package cron

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestWhichOfTheJobsThatPileUpIsNamed: at least three run, and none has ended since the oldest of them began, in
// whichever order they are listed. The records are those of the oldest.
func TestWhichOfTheJobsThatPileUpIsNamed(t *testing.T) {
	for _, row := range []struct {
		runs    string // as runsOf has them
		success float64
		want    string
		from    string
	}{
		{"rrr", 0, "UNFINISHED: 3 of its Jobs have not ended, and none has since the oldest of them began, 15m ago", "[1]"},
		{"rr", 0, "", "[]"}, {"rCr", 0, "", "[]"},
		{"Crrr", 0, "UNFINISHED: 3 of its Jobs have not ended, and none has since the oldest of them began, 14m50s ago",
			"[11]"},
		{"rCrr", 0, "", "[]"}, {"rrFr", 0, "", "[]"},
		{"xrrrr", 0, "UNFINISHED: 4 of its Jobs have not ended, and none has since the oldest of them began, 14m50s ago",
			"[11]"},
		{"rrr", 100, "UNFINISHED: 3 of its Jobs have not ended, and none has since the oldest of them began, 15m ago", "[1]"},
		{"rrr", 100.1, "", "[]"},
	} {
		for _, backwards := range []bool{false, true} {
			c := cronOf(nil, runsOf(row.runs)...)
			c.Ctx, c.Src = t.Context(), history.Local{Log: memlog.New(events.Identity{})}
			for _, r := range c.Runs {
				is := history.Run{Name: r.Name, UID: string(r.Job),
					Created: whentest.Recorded(r.Created.Sub(whentest.Sec(0)).Seconds()), State: history.StateComplete}
				if r.Ended.Record == 0 && r.Gone.Record == 0 {
					is.State = history.StateRunning
				}
				c.State.Runs = append(c.State.Runs, is)
				if backwards {
					c.State.Runs = append(c.State.Runs[len(c.State.Runs)-1:], c.State.Runs[:len(c.State.Runs)-1]...)
				}
			}
			if row.success != 0 {
				c.State.Published.LastSuccess = whentest.Recorded(row.success)
			}
			v, is := c.unfinishedVerdict()
			if v.Records == nil {
				v = explain.Sentence{Text: v.Text, Records: []uint64{}}
			}
			if is != (row.want != "") || v.Text != row.want || fmt.Sprint(v.Records) != row.from {
				t.Errorf("%s: %t, %q by %v, want %q by %s", row.runs, is, v.Text, v.Records, row.want, row.from)
			}
		}
	}
}
