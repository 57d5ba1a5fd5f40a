package cron

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// TestTimesWithinAnAnswer: an answer about a CronJob covers the time from its creation, or from the due times that it
// looks at, to its deletion, or to now. Gaps and times over the budget of log that only touch it are none of it.
func TestTimesWithinAnAnswer(t *testing.T) {
	for _, row := range []struct {
		name                string
		created, told, gone float64 // 0 for none; now is second 100
		from, until         float64 // until: 0 for still
		gap, passed         bool
	}{
		{"within", 10, 0, 0, 20, 30, true, true},
		{"before its creation", 10, 0, 0, 5, 9, false, false},
		{"until its creation", 10, 0, 0, 5, 10, false, true},
		{"over its creation", 10, 0, 0, 5, 11, true, true},
		{"before what is looked at", 10, 40, 0, 20, 30, false, false},
		{"over the begin of what is looked at", 10, 40, 0, 20, 41, true, true},
		{"created later than what is told", 50, 40, 0, 42, 45, false, false},
		{"behind its deletion", 10, 0, 50, 60, 70, false, false},
		{"from its deletion on", 10, 0, 50, 50, 70, false, true},
		{"over its deletion", 10, 0, 50, 49, 70, true, true},
		{"still", 10, 0, 0, 90, 0, true, true},
		{"still, from now on", 10, 0, 0, 100, 0, false, true},
		{"behind now", 10, 0, 0, 101, 0, false, false},
	} {
		c := &Case{Case: &croncase.Case{Fates: fates.Fates{Due: &duetimes.CronJob{}}}}
		c.State = history.CronJob{Namespace: "ns", Created: whentest.Recorded(row.created)}
		c.State.AsOf.Time = whentest.Recorded(100)
		if row.told != 0 {
			c.Due.Told = whentest.Sec(row.told)
		}
		if row.gone != 0 {
			c.Gone = whentest.Seen(9, row.gone)
		}
		g, p := &history.Gap{From: whentest.Recorded(row.from)}, &history.Passed{Namespace: "ns",
			From: whentest.Recorded(row.from), Versions: 1}
		if row.until != 0 {
			g.Until, p.Until = whentest.Recorded(row.until), whentest.Recorded(row.until)
		}
		c.Gaps, c.Passed.All = []*history.Gap{g}, []*history.Passed{p}
		if got := len(c.touching()) == 1; got != row.gap {
			t.Errorf("%s: a gap touches it: %t", row.name, got)
		}
		if got := len(c.passedOver()) == 1; got != row.passed {
			t.Errorf("%s: its namespace was over its budget: %t", row.name, got)
		}
	}
}

// TestWhatHadBegunBefore: it had been due before the first watch if a due time up to then has no known fate.
func TestWhatHadBegunBefore(t *testing.T) {
	first := &history.Gap{Until: whentest.Recorded(20)}
	later := &history.Gap{From: whentest.Recorded(5), Until: whentest.Recorded(20)}
	for _, row := range []struct {
		gaps []*history.Gap
		fate events.TickFate
		at   float64
		want string
	}{
		{[]*history.Gap{first}, events.TickUnwatched, 10, "it had been due"},
		{[]*history.Gap{first}, events.TickUnknown, 20, "it had been due"},
		{[]*history.Gap{first}, events.TickUnwatched, 21, ""}, {[]*history.Gap{first}, events.TickStarted, 10, ""},
		{[]*history.Gap{later}, events.TickUnwatched, 10, ""}, {nil, events.TickUnwatched, 10, ""},
		{[]*history.Gap{later, first}, events.TickUnwatched, 10, "it had been due"},
	} {
		c := &Case{Case: &croncase.Case{Fates: fates.Fates{Due: &duetimes.CronJob{}, Gaps: row.gaps}}}
		c.Due.Entries = []duetimes.Entry{whentest.Entry(row.at, row.at, row.fate, nil)}
		if got := c.begunBefore(); got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
}
