package cron

import (
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestDueTimesThatAreMissedStandTogether: those in a row of which the same is to say but for numbers.
func TestDueTimesThatAreMissedStandTogether(t *testing.T) {
	run := func(n int, text string, records ...events.Sequence) *missedRun {
		x := &missedRun{first: whentest.Entry(1, 1, 0, nil), last: whentest.Entry(2, 2, 0, nil), n: n, text: text,
			alike: explain.Liken(text, ""), same: true}
		for _, r := range records {
			x.from = append(x.from, explain.RecordMark(r))
		}
		return x
	}
	for _, row := range []struct {
		a, b *missedRun
		want bool
	}{
		{run(1, "too late"), run(2, "too late"), true}, {run(1, "too late"), run(1, "merged"), false}, {run(0, "too late"),
			run(1, "too late"), false},
		{run(1, "too late"), run(0, "too late"), false}, {run(1, "by 5 s"), run(1, "by 6 s"), true},
	} {
		if got := row.a.joins(row.b); got != row.want {
			t.Errorf("%+v and %+v: %t", row.a, row.b, got)
		}
	}
	x := run(1, "by 5 s", 1, 2)
	x.join(run(2, "by 6 s", 3))
	if x.n != 3 || x.same || x.text != "by 6 s" || fmt.Sprint(x.from) != fmt.Sprint([]explain.Mark{explain.RecordMark(3),
		explain.RecordMark(1)}) {
		t.Errorf("%+v", x)
	}
	if x.join(run(1, "by 6 s", 4)); x.same {
		t.Error("they are the same again")
	}
}

// TestWhatCountsAsStarted: what has a Job, or of which it is not known.
func TestWhatCountsAsStarted(t *testing.T) {
	for fate, want := range map[events.TickFate]bool{
		0: false, events.TickStarted: true, events.TickMerged: false, events.TickTooLate: false, events.TickRefused: false,
		events.TickLost: false, events.TickUnwatched: false,
		events.TickDeleted: true, events.TickReplaced: true, events.TickSkipped: false, events.TickUnknown: true,
	} {
		e := whentest.Entry(1, 1, fate, nil)
		if got := started(&e); got != want {
			t.Errorf("%s: %t", fate, got)
		}
		if e.Job = "uid"; !started(&e) {
			t.Errorf("%s with a Job did not start", fate)
		}
	}
}

// TestOfHowManyRuns: one, or several.
func TestOfHowManyRuns(t *testing.T) {
	whentest.Texts(t, [][2]string{{lastRuns(1), "its last run"}, {lastRuns(2), "its last 2 runs"}})
}
