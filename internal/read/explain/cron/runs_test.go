package cron

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/explain"
	"github.com/jobledger/jobledger/internal/read/explain/croncase"
	"github.com/jobledger/jobledger/internal/read/explain/fates"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
	"github.com/jobledger/jobledger/internal/read/history"
)

// cronOf is a CronJob as of second 1000, with these due times and Jobs.
func cronOf(entries []duetimes.Entry, runs ...*croncase.Run) *Case {
	c := &Case{&croncase.Case{Misses: &explain.Misses{}, Runs: runs, Fates: fates.Fates{Due: &duetimes.CronJob{Entries: entries}}}}
	c.State.AsOf.Time, c.State.State, c.Added = whentest.Recorded(1000), history.CronWaiting, whentest.Seen(2, 1)
	return c
}

// runOf is a Job of a due time, created at a second: C for one that completed, F for one that failed, r for one that
// runs, x for one that was deleted a second before the next Job was created ten seconds later, m for one by hand that
// failed, M for one by hand that completed.
func runOf(letter string, n int) *croncase.Run {
	at := float64(100 + 10*n)
	r := &croncase.Run{First: whentest.Seen(events.Sequence(10*n+1), at), RunSeen: events.RunSeen{
		Job: types.UID(fmt.Sprint("uid-", n)), Name: fmt.Sprint("run-", n), Created: whentest.Sec(at), Due: whentest.Sec(at)}}
	switch letter {
	case "C", "M":
		r.Result, r.Ended = events.ResultComplete, whentest.Seen(events.Sequence(10*n+5), at+5)
	case "F", "m":
		r.Result, r.Ended = events.ResultFailed, whentest.Seen(events.Sequence(10*n+5), at+5)
	case "x":
		r.Gone = whentest.Seen(events.Sequence(10*n+5), at+9)
	}
	if strings.EqualFold(letter, "m") {
		r.Manual, r.Due = true, 0
	}
	return r
}

// runsOf are Jobs, the oldest first.
func runsOf(letters string) (out []*croncase.Run) {
	for i, letter := range strings.Split(letters, "") {
		out = append(out, runOf(letter, i))
	}
	return out
}

// TestRunsInARow: how many failed up to the newest that ended, how many were replaced, how many run, and what is said of
// the newest run by hand that failed.
func TestRunsInARow(t *testing.T) {
	for _, row := range []struct {
		runs              string
		failed            int
		last              string
		replaced, running int
		hand              string
	}{
		{"C", 0, "", 0, 0, ""}, {"F", 1, "run-0", 0, 0, ""}, {"CFF", 2, "run-2", 0, 0, ""}, {"FFC", 0, "", 0, 0, ""}, {"CFFr", 2, "run-2", 0, 1, ""},
		{"FCF", 1, "run-2", 0, 0, ""}, {"Fm", 1, "run-0", 0, 0, "run-1 failed"}, {"CM", 0, "", 0, 0, ""}, {"Cm", 0, "", 0, 0, "run-1 failed"},
		{"CmM", 0, "", 0, 0, ""}, {"mC", 0, "", 0, 0, "run-0 failed"}, {"xx", 0, "", 0, 0, ""}, {"xr", 0, "", 1, 1, ""}, {"xxr", 0, "", 2, 1, ""},
		{"Cxxr", 0, "", 2, 1, ""}, {"xCxr", 0, "", 1, 1, ""}, {"xxC", 0, "", 0, 0, ""}, {"rr", 0, "", 0, 2, ""}, {"xrr", 0, "", 0, 2, ""},
		{"Fxr", 1, "run-0", 1, 1, ""},
	} {
		c := cronOf(nil, runsOf(row.runs)...)
		c.State.Spec.Policy = "Replace"
		failed, newest := c.failedRuns()
		last := ""
		if newest != nil {
			last = newest.Name
		}
		hand, from := c.handSince(nil)
		if failed != row.failed || last != row.last || len(c.starved()) != row.replaced || len(c.running()) != row.running ||
			(hand != "") != (row.hand != "") || (len(from) > 0) != (hand != "") {
			t.Errorf("%s: %d failed, %q, %d replaced, %d run, %q", row.runs, failed, last, len(c.starved()), len(c.running()), hand)
		}
		for _, word := range strings.Fields(row.hand) {
			if !strings.Contains(hand, word) {
				t.Errorf("%s: %q", row.runs, hand)
			}
		}
		if v, is := c.starvingVerdict(); is != (row.replaced >= 2) || is && !strings.Contains(v.Text, fmt.Sprintf("last %d Jobs", row.replaced)) {
			t.Errorf("%s: %q", row.runs, v.Text)
		}
		c.State.Spec.Policy = "Forbid"
		if n := len(c.starved()); n != 0 {
			t.Errorf("%s: %d are replaced under Forbid", row.runs, n)
		}
	}
	late := runsOf("mF")
	late[0].Created = late[1].Created
	if text, _ := cronOf(nil, late...).handSince(late[1]); text == "" {
		t.Error("a run by hand of the same instant is left out")
	}
	late[0].Created--
	if text, _ := cronOf(nil, late...).handSince(late[1]); text != "" {
		t.Errorf("one of before: %q", text)
	}
	good, runs := runsOf("FM"), runsOf("Fm")
	if text, _ := cronOf(nil, good...).handSince(good[0]); !strings.HasSuffix(text, ", succeeded") {
		t.Errorf("one that succeeded since a failure: %q", text)
	}
	runs[1].Result, runs[1].Ended = events.ResultNone, explain.Mark{}
	if text, _ := cronOf(nil, runs...).handSince(nil); text != "" {
		t.Errorf("one that runs: %q", text)
	}
}

// TestHowSoonAJobIsReplaced: within ten seconds on either side, by a Job of the CronJob, and before it ended.
func TestHowSoonAJobIsReplaced(t *testing.T) {
	for _, row := range []struct {
		gone, next float64
		change     func(*croncase.Run)
		want       bool
	}{
		{100, 100, nil, true}, {100, 109.9, nil, true}, {100, 110, nil, false}, {109.9, 100, nil, true}, {110, 100, nil, false},
		{100, 100, func(r *croncase.Run) { r.Ended = whentest.Seen(3, 3) }, false}, {100, 100, func(r *croncase.Run) { r.Left = true }, false},
		{100, 100, func(r *croncase.Run) { r.Gone = explain.Mark{} }, false},
	} {
		r, next := &croncase.Run{Gone: whentest.Seen(5, row.gone)}, &croncase.Run{First: whentest.Seen(6, row.next)}
		if row.change != nil {
			row.change(r)
		}
		c := cronOf(nil)
		if c.State.Spec.Policy = "Replace"; c.replaced(r, next) != row.want || c.replaced(r, nil) {
			t.Errorf("gone at %v, the next at %v: %t", row.gone, row.next, !row.want)
		}
	}
}

// TestDueTimesInARow: those that did not start up to the newest, since when, and those that started, with the longest
// wait.
func TestDueTimesInARow(t *testing.T) {
	const none = events.TickFate(0)
	entries := func(fates ...events.TickFate) (out []duetimes.Entry) {
		for i, fate := range fates {
			at := float64(100 + 10*i)
			e := whentest.Entry(at, at, fate, func(e *duetimes.Entry) { e.Record = events.Sequence(20 + i) })
			if fate == events.TickStarted {
				e.Job, e.Late = types.UID(fmt.Sprint("uid-", i)), time.Duration(10-i)*time.Second
			}
			out = append(out, e)
		}
		return out
	}
	s, tooLate, refused, unknown, replaced, again := events.TickStarted, events.TickTooLate, events.TickRefused, events.TickUnknown, events.TickReplaced, events.TickAgain
	for _, row := range []struct {
		fates   []events.TickFate
		missed  int
		newest  events.Sequence
		since   float64
		started int
		late    time.Duration
	}{
		{nil, 0, 0, 0, 0, 0}, {[]events.TickFate{s}, 0, 0, 0, 1, 10 * time.Second}, {[]events.TickFate{s, s}, 0, 0, 0, 2, 10 * time.Second},
		{[]events.TickFate{s, tooLate}, 1, 21, 110, 0, 0}, {[]events.TickFate{s, tooLate, refused}, 2, 22, 110, 0, 0},
		{[]events.TickFate{tooLate, s}, 0, 0, 0, 1, 9 * time.Second}, {[]events.TickFate{tooLate, refused}, 2, 21, 100, 0, 0},
		{[]events.TickFate{tooLate, unknown}, 0, 21, 0, 0, 0}, {[]events.TickFate{unknown, tooLate}, 1, 21, 110, 0, 0},
		{[]events.TickFate{s, replaced}, 0, 0, 0, 1, 10 * time.Second}, {[]events.TickFate{s, replaced, s}, 0, 0, 0, 1, 8 * time.Second},
		{[]events.TickFate{s, none}, 1, 21, 110, 1, 10 * time.Second}, {[]events.TickFate{s, again, s}, 0, 0, 0, 2, 10 * time.Second},
	} {
		c := cronOf(entries(row.fates...))
		n, newest := c.missed()
		record, since := events.Sequence(0), events.Time(0)
		if newest != nil {
			record = newest.Record
		}
		if row.since != 0 {
			since = whentest.Sec(row.since)
		}
		started, late, from := c.startedInARow()
		if n != row.missed || record != row.newest || started != row.started || late != row.late || len(from) != min(started, 1) {
			t.Errorf("%v: %d missed, the newest #%d; %d started, %s late, by %d records", row.fates, n, record, started, late, len(from))
		}
		if n > 0 && c.missedSince() != since {
			t.Errorf("%v: missed since %s", row.fates, c.missedSince().Sub(whentest.Sec(0)))
		}
	}
	young := cronOf(entries(s, none))
	for now, want := range map[float64]bool{110: true, 174.9: true, 175: false} { // a minute and five seconds
		young.State.AsOf.Time = whentest.Recorded(now)
		if got := young.young(&young.Due.Entries[1]); got != want {
			t.Errorf("at %v it may still start: %t", now, got)
		}
		if n, _ := young.missed(); (n == 0) != want {
			t.Errorf("at %v %d are missed", now, n)
		}
	}
	young.Due.Entries[1].Observed = true
	for now, want := range map[float64]bool{114.9: true, 115: false} {
		young.State.AsOf.Time = whentest.Recorded(now)
		if got := young.young(&young.Due.Entries[1]); got != want {
			t.Errorf("of another controller, at %v it may still start: %t", now, got)
		}
	}
}

// TestDueTimesThatCannotBeCounted: a range without a ledger is one at least, and is not young; the open one is held by
// its time alone. What started without a Job that was seen has started, and the longest wait counts.
func TestDueTimesThatCannotBeCounted(t *testing.T) {
	c := cronOf([]duetimes.Entry{whentest.Entry(100, 160, events.TickTooLate, nil)})
	if n, newest := c.missed(); n != 1 || newest == nil {
		t.Errorf("%d are missed of a range that cannot be counted", n)
	}
	c = cronOf([]duetimes.Entry{whentest.Entry(990, 999, 0, func(e *duetimes.Entry) { e.Observed = true })})
	if c.young(&c.Due.Entries[0]) {
		t.Error("a range of another controller may still start")
	}
	c = cronOf([]duetimes.Entry{whentest.Entry(990, 990, 0, nil)})
	if !c.young(&c.Due.Entries[0]) || c.missedSince() != 0 {
		t.Error("a due time of ten seconds ago cannot start any more")
	}
	c.Due.Ledger = &events.TickLedger{Open: whentest.Sec(990)}
	if c.young(&c.Due.Entries[0]) {
		t.Error("the open one may wait for a minute")
	}
	c = cronOf([]duetimes.Entry{
		whentest.Entry(100, 100, events.TickStarted, func(e *duetimes.Entry) { e.Late = time.Second }),
		whentest.Entry(110, 110, events.TickStarted, func(e *duetimes.Entry) { e.Late = 3 * time.Second }),
		whentest.Entry(120, 120, events.TickStarted, func(e *duetimes.Entry) { e.Late = 2 * time.Second }),
	})
	if n, late, _ := c.startedInARow(); n != 3 || late != 3*time.Second {
		t.Errorf("%d started, %s late at most", n, late)
	}
}

// TestWhichJobsBlock: those that run, the longest one's time; else those of status.active.
func TestWhichJobsBlock(t *testing.T) {
	for runs, want := range map[string]string{
		"r": "run-0 has run for 15m", "rr": "run-0, run-1 run, the oldest for 15m", "Cr": "run-1 has run for 14m50s",
		"rrr": "run-0, run-1, run-2 run, the oldest for 15m", "rrrr": "run-0, run-1, run-2 and 1 more run, the oldest for 15m", "C": "a Job of before runs",
	} {
		text, from := cronOf(nil, runsOf(runs)...).blockers()
		if text != want || len(from) != strings.Count(runs, "r") {
			t.Errorf("%s: %q by %d records, want %q", runs, text, len(from), want)
		}
	}
	backwards := runsOf("rrr")
	backwards[0], backwards[1], backwards[2] = backwards[2], backwards[0], backwards[1]
	if text, _ := cronOf(nil, backwards...).blockers(); text != "run-2, run-0, run-1 run, the oldest for 15m" {
		t.Errorf("in another order: %q", text)
	}
	c := cronOf(nil)
	for active, want := range map[string]string{"a": "a is in status.active", "a b": "a and 1 more are in status.active", "a b c": "a and 2 more are in status.active"} {
		c.State.Published.Active = nil
		for _, name := range strings.Fields(active) {
			c.State.Published.Active = append(c.State.Published.Active, history.RunName{Name: name, UID: name})
		}
		if text, from := c.strangers(); text != want || from != nil {
			t.Errorf("%s: %q", active, text)
		}
	}
	left := runOf("x", 0)
	left.Left = true
	c = cronOf(nil, left)
	c.State.Published.Active = []history.RunName{{Name: "other", UID: "other"}, {Name: "run-0", UID: "uid-0"}}
	if text, from := c.strangers(); text != "run-0, in status.active, is not its own since "+c.Seen(left.Gone.At) || len(from) != 2 {
		t.Errorf("of one that left: %q", text)
	}
	for policy, want := range map[string]bool{"Forbid": true, "Allow": false} {
		if c.State.Spec.Policy = policy; c.heldByStranger() != want {
			t.Errorf("%s: a stranger holds it back: %t", policy, !want)
		}
	}
	if left.Left = false; c.heldByStranger() {
		t.Error("its own Job is a stranger")
	}
	none := cronOf(nil)
	if none.State.Spec.Policy = "Forbid"; none.heldByStranger() {
		t.Error("nothing holds it back")
	}
	left.Left = true
	c.Runs = append(c.Runs, runOf("r", 1))
	if c.State.Spec.Policy = "Forbid"; c.heldByStranger() {
		t.Error("beside a Job of its own a stranger alone holds it back")
	}
}

// TestHowARunEnded says how long it took only where that is known.
func TestHowARunEnded(t *testing.T) {
	c := cronOf(nil)
	run := func(change func(*croncase.Run)) *croncase.Run {
		r := &croncase.Run{}
		change(r)
		return r
	}
	for want, r := range map[string]*croncase.Run{
		"it has not ended": run(func(*croncase.Run) {}),
		"COMPLETE after 5s": run(func(r *croncase.Run) {
			r.Result, r.Started, r.Completed = events.ResultComplete, whentest.Sec(1), whentest.Sec(6)
		}),
		"COMPLETE after 0s": run(func(r *croncase.Run) {
			r.Result, r.Started, r.Completed = events.ResultComplete, whentest.Sec(6), whentest.Sec(6)
		}),
		"COMPLETE": run(func(r *croncase.Run) {
			r.Result, r.Started, r.Completed = events.ResultComplete, whentest.Sec(6), whentest.Sec(5)
		}),
		"FAILED": run(func(r *croncase.Run) {
			r.Result, r.Started, r.Completed = events.ResultFailed, whentest.Sec(1), whentest.Sec(5)
		}),
		"deleted before it ended, seen at " + c.Seen(whentest.Sec(9)): run(func(r *croncase.Run) { r.Gone = whentest.Seen(9, 9) }),
	} {
		if got := c.howEnded(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := c.howEnded(&croncase.Run{RunSeen: events.RunSeen{Result: events.ResultComplete, Completed: whentest.Sec(5)}}); got != "COMPLETE" {
		t.Errorf("without a start: %q", got)
	}
}

// TestWhenADeadlineIsOver: of the open due time, by its seconds.
func TestWhenADeadlineIsOver(t *testing.T) {
	for _, row := range []struct {
		open    float64
		seconds *int64
		want    float64
	}{{900, new(int64(99)), 999}, {900, new(int64(100)), 0}, {900, nil, 0}, {0, new(int64(5)), 0}} {
		c := cronOf(nil)
		if c.State.Spec.Deadline = row.seconds; row.open != 0 {
			c.State.Due = &history.OpenDue{At: whentest.Recorded(row.open)}
		}
		want := events.Time(0)
		if row.want != 0 {
			want = whentest.Sec(row.want)
		}
		if got := c.tooLate(); got != want {
			t.Errorf("open since %v: over at %v", row.open, got)
		}
	}
}

// TestJobsThatPileUp: three or more that run, and none ended since the oldest of them began.
func TestJobsThatPileUp(t *testing.T) {
	for _, row := range []struct {
		runs, ended float64 // how many run, from second 100 on, and when another one ended
		success     float64
		want        bool
	}{
		{3, 0, 0, true}, {2, 0, 0, false}, {4, 0, 0, true}, {3, 100, 0, true}, {3, 100.1, 0, false}, {3, 0, 100, true}, {3, 0, 100.1, false},
	} {
		c := cronOf(nil)
		for i := range int(row.runs) {
			c.State.Runs = append(c.State.Runs, history.Run{State: history.StateRunning, Created: whentest.Recorded(float64(100 + 10*(int(row.runs)-1-i)))})
		}
		c.State.Runs[0], c.State.Runs[1] = c.State.Runs[1], c.State.Runs[0]
		n := len(c.State.Runs) - 1 // the oldest stands between others
		c.State.Runs[n], c.State.Runs[1] = c.State.Runs[1], c.State.Runs[n]
		c.State.Runs = append(c.State.Runs, history.Run{State: history.StateComplete, Created: whentest.Recorded(50)})
		if row.ended != 0 {
			c.Runs = []*croncase.Run{{Ended: whentest.Seen(9, row.ended), RunSeen: events.RunSeen{Job: "other"}}}
		}
		if row.success != 0 {
			c.State.Published.LastSuccess = whentest.Recorded(row.success)
		}
		v, is := c.unfinishedVerdict()
		if is != row.want || is && !strings.HasPrefix(v.Text, fmt.Sprintf("UNFINISHED: %d of its Jobs have not ended, and none has since the oldest of them began, 15m ago", int(row.runs))) {
			t.Errorf("%+v: %q", row, v.Text)
		}
		if c.oldestRun() != whentest.Sec(100) {
			t.Errorf("%+v: the oldest is of %s", row, c.oldestRun().Sub(whentest.Sec(0)))
		}
	}
	if at := cronOf(nil).oldestRun(); at != 0 {
		t.Errorf("the oldest of none is of %s", at.Go())
	}
}
