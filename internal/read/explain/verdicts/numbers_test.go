package verdicts

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestWhatLedToAVerdict: the newest end of a try before it, of those that the decision names.
func TestWhatLedToAVerdict(t *testing.T) {
	ended := func(record events.Sequence, counted int32, at events.Sequence) *try.Try {
		x := &try.Try{Ended: whentest.Seen(record, float64(record)), Failure: counted, CountAt: whentest.Seen(at, 1)}
		if counted > 0 {
			x.Counted = try.CountedFailed
		}
		return x
	}
	tries := []*try.Try{ended(5, 1, 6), ended(9, 2, 10), ended(30, 3, 31), {}}
	for _, row := range []struct {
		name   string
		s      jobcase.Settling
		by     events.Sequence
		failed int
	}{
		{"our decision", jobcase.Settling{Decided: whentest.Seen(12, 12), Causes: []events.Sequence{5, 9}}, 9, 2},
		{"for the first of them", jobcase.Settling{Decided: whentest.Seen(12, 12), Causes: []events.Sequence{5}}, 5, 2},
		{"for none of them", jobcase.Settling{Decided: whentest.Seen(12, 12), Causes: []events.Sequence{7}}, 0, 2},
		{"at once with the count", jobcase.Settling{Decided: whentest.Seen(10, 12), Causes: []events.Sequence{5, 9}}, 9, 2},
		{"before the count", jobcase.Settling{Decided: whentest.Seen(9, 12), Causes: []events.Sequence{5, 9}}, 9, 1},
		{"its status", jobcase.Settling{Seen: whentest.Seen(12, 12)}, 9, 2},
		{"its status, seen with an end", jobcase.Settling{Seen: whentest.Seen(9, 9)}, 9, 1},
		{"its deadline", jobcase.Settling{Seen: whentest.Seen(12, 12), Reason: "DeadlineExceeded"}, 0, 2},
		{"its deadline, by us", jobcase.Settling{Decided: whentest.Seen(12, 12), Causes: []events.Sequence{9},
			Reason: "DeadlineExceeded"}, 9, 2},
		{"our rules agree", jobcase.Settling{Seen: whentest.Seen(12, 12), Same: true, Evidence: whentest.Seen(8, 8)}, 8, 2},
		{"nothing bounds it", jobcase.Settling{}, 30, 3},
	} {
		c := &jobcase.Case{Tries: tries, Settled: &row.s}
		by := events.Sequence(0)
		if m := c.Trigger(&row.s); len(m) > 0 {
			by = m[0].Record
		}
		if by != row.by || failedBy(c, &row.s) != row.failed {
			t.Errorf("%s: by %d with %d failures, want %d with %d", row.name, by, failedBy(c, &row.s), row.by, row.failed)
		}
		if x := c.SettledBy(); (x != nil) != (by != 0 && by != 8) || x != nil && x.End().Record != by {
			t.Errorf("%s: settled by %v", row.name, x)
		}
	}
}
