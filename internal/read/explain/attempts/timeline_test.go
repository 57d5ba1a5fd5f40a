package attempts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/jobcase"
	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/say/recordjson"
)

// TestColumnsAreRound: a column of a timeline is the shortest round time with which all has place.
func TestColumnsAreRound(t *testing.T) {
	day := 24 * time.Hour
	for _, row := range []struct{ whole, want time.Duration }{
		{0, 10 * time.Millisecond}, {100 * time.Millisecond, 10 * time.Millisecond}, {101 * time.Millisecond,
			20 * time.Millisecond}, {5 * time.Second, 500 * time.Millisecond},
		{100 * time.Second, 10 * time.Second}, {101 * time.Second, 15 * time.Second}, {time.Hour, 10 * time.Minute},
		{9 * time.Hour, time.Hour}, {30 * time.Hour, 4 * time.Hour},
		{5 * day, 12 * time.Hour}, {10 * day, day}, {10*day + 1, 2 * day}, {19 * day, 2 * day}, {35 * day, 4 * day},
	} {
		line := Timeline{From: whentest.Recorded(0), To: recordjson.Instant(whentest.Sec(0).Add(row.whole))}
		if got := line.Column(10); got != row.want {
			t.Errorf("%s in 10 columns: %s, want %s", row.whole, got, row.want)
		}
	}
}

// TestLanesOfATimeline: all where no bound is given, and else those that failed first.
func TestLanesOfATimeline(t *testing.T) {
	c := &jobcase.Case{Misses: &explain.Misses{}, Tries: []*try.Try{
		{Pod: "a", Index: events.NoIndex, Seen: whentest.Seen(1, 1), Ended: whentest.Seen(5, 5), Phase: events.PodSucceeded},
		{Pod: "b", Index: events.NoIndex, Seen: whentest.Seen(1, 1)},
		{Pod: "c", Index: events.NoIndex, Seen: whentest.Seen(1, 1), Ended: whentest.Seen(6, 6), Phase: events.PodFailed,
			Judged: &try.Ending{By: try.ByItself}},
	}}
	c.Tries[0].Judged = &try.Ending{By: try.ByItself}
	c.Job.Created, c.Job.AsOf.Time = whentest.Recorded(1), whentest.Recorded(9)
	for most, want := range map[int]string{0: "a b c more 0", 1: "c more 2", 2: "c a more 1", 3: "a b c more 0"} {
		line := TimelineOf(c, most)
		var names []string
		for _, lane := range line.Rows {
			names = append(names, lane.Name)
		}
		if got := fmt.Sprintf("%s more %d", strings.Join(names, " "), line.More); got != want {
			t.Errorf("of %d: %s, want %s", most, got, want)
		}
	}
}
