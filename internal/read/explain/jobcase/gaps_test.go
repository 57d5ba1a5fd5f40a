package jobcase

import (
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestBounds: what is told, or not, exactly at a bound.
func TestBounds(t *testing.T) {
	c := &Case{Gaps: []*history.Gap{{From: whentest.Recorded(100), Until: whentest.Recorded(200), Listing: 5}},
		Misses: &explain.Misses{}}
	c.Job.AsOf.Time, c.Job.State = whentest.Recorded(1000), history.StateRunning
	for _, row := range []struct {
		created, end float64
		want         bool
	}{{1, 1000, true}, {199, 1000, true}, {200, 1000, false}, {1, 101, true}, {1, 100, false}} {
		c.Job.Created, c.Gone = whentest.Recorded(row.created), whentest.Seen(50, row.end)
		if got := len(c.Touching()) == 1; got != row.want {
			t.Errorf("%+v: it touches: %t", row, got)
		}
	}
	begins := &Case{Added: whentest.Seen(4, 10), Gaps: []*history.Gap{{Until: whentest.Recorded(10), Listing: 3}}}
	begins.Job.Created, begins.Job.AsOf.Time = whentest.Recorded(9), whentest.Recorded(50)
	if len(begins.Touching()) != 0 {
		t.Error("a Job that was found at once is older than the log")
	}
	if begins.Job.Created = whentest.Recorded(8); len(begins.Touching()) != 1 {
		t.Error("a Job that is older than the log by 2 s is not")
	}
	for created, want := range map[float64]float64{9: 10, 8.1: 10, 8: 8, 3: 3} {
		if begins.Job.Created = whentest.Recorded(created); begins.Start() != whentest.Sec(want) {
			t.Errorf("created at %v, it began at %s", created, begins.Start().Sub(whentest.Sec(0)))
		}
	}
	pruned := &Case{Tries: []*try.Try{{Seen: whentest.Seen(5, 7)}}}
	if pruned.Start() != whentest.Sec(7) {
		t.Errorf("where its creation is not known it began at %d", pruned.Start())
	}
}

// TestTheGapBeforeARecord: the one at whose end the record was found.
func TestTheGapBeforeARecord(t *testing.T) {
	c := &Case{Gaps: []*history.Gap{{From: whentest.Recorded(5), Until: whentest.Recorded(8), Listing: 10}}}
	for _, row := range []struct {
		m    explain.Mark
		want bool
	}{{whentest.Seen(11, 8), true}, {whentest.Seen(10, 8), false}, {whentest.Seen(11, 5), true}, {whentest.Seen(11, 4),
		false}, {whentest.Seen(11, 9), false}} {
		if got := c.GapBefore(nil, row.m) != nil; got != row.want {
			t.Errorf("%v: in a gap: %t", row.m, got)
		}
	}
}
