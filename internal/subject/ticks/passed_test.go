package ticks_test

import (
	"testing"

	"github.com/jobledger/jobledger/internal/subject/ticks"
)

// TestPassed: somebody sets status.lastScheduleTime to what is no instant of the schedule. The instants through it are
// not started, with none for which they stand, but those whose deadline was over; what is open is open no more, and the
// ledger goes on behind it.
func TestPassed(t *testing.T) {
	seconds := func(n int64) *int64 { return &n }
	for _, row := range []struct {
		sentence, anchor string
		open             bool
		deadline         *int64
		gap              string
		want             string
	}{
		{"none has passed", "08:09:30", false, nil, "", ""},
		{"one has", "08:10:30", false, nil, "", "08:10 not started"},
		{"several have", "08:45:30", false, nil, "", "08:10-08:30 not started; 08:40 not started"},
		{"the open one has", "08:25:30", true, nil, "", "08:10 not started; 08:20 not started"},
		{"the open one was too late before", "08:25:30", true, seconds(60), "", "08:10 too late; 08:20 not started"},
		{"nobody watched some", "08:45:30", false, nil, "08:15:00 08:35:00", "08:10 not started; 08:20-08:30 missed while no controller watched; 08:40 not started"},
	} {
		l := ticks.Begin(clock(t, "08:00:00"))
		k := ticks.Look{Schedule: parsed(t, "*/10 * * * *", ""), Anchor: clock(t, "08:00:00"), Hold: ticks.Forbid, Now: clock(t, "08:10:00"), Deadline: row.deadline}
		if row.open {
			if _, held := l.Look(&k); !held {
				t.Fatal("nothing is held back")
			}
		}
		if row.gap != "" {
			k.Gaps = []ticks.Gap{{From: clock(t, row.gap[:8]), Until: clock(t, row.gap[9:])}}
		}
		k.Anchor, k.Now = clock(t, row.anchor), clock(t, "09:05:00")
		if got := said(l.Passed(&k)...); got != row.want {
			t.Errorf("%s: %s, want %s", row.sentence, got, row.want)
		}
		if !l.Through.Equal(k.Anchor) || !l.Open.IsZero() || l.Hold != ticks.NotHeld {
			t.Errorf("%s: the ledger is %+v", row.sentence, l)
		}
	}
}

// TestInstantsOfAView: what is an instant, what comes next, and what has not started; where the schedule cannot be read
// there is none.
func TestInstantsOfAView(t *testing.T) {
	v := &ticks.View{Schedule: parsed(t, "*/10 * * * *", ""), Anchor: clock(t, "08:00:00")}
	every := &ticks.View{Schedule: parsed(t, "@every 7m", ""), Anchor: clock(t, "08:00:00")}
	none := &ticks.View{None: true, Schedule: v.Schedule}
	for text, is := range map[string][3]bool{"08:10:00": {true, true, false}, "08:11:00": {false, true, false}, "08:10:01": {false, true, false}} {
		if got := [3]bool{v.Has(clock(t, text)), every.Has(clock(t, text)), none.Has(clock(t, text))}; got != is {
			t.Errorf("%s is an instant: %t, want %t", text, got, is)
		}
	}
	if !v.Next(clock(t, "08:10:00")).Equal(clock(t, "08:20:00")) || !every.Next(clock(t, "08:00:00")).Equal(clock(t, "08:07:00")) || !none.Next(clock(t, "08:10:00")).IsZero() {
		t.Errorf("the next are %s, %s and %s", v.Next(clock(t, "08:10:00")), every.Next(clock(t, "08:00:00")), none.Next(clock(t, "08:10:00")))
	}
	l := ticks.Begin(clock(t, "08:05:00"))
	for until, want := range map[string][2]string{"08:09:59": {}, "08:10:00": {"08:10", "08:10"}, "08:45:00": {"08:10", "08:40"}, "08:05:00": {}, "08:01:00": {}} {
		first, last := l.Unstarted(v, clock(t, until))
		got := [2]string{}
		if !first.IsZero() {
			got = [2]string{first.Format("15:04"), last.Format("15:04")}
		}
		if got != want || first.IsZero() != last.IsZero() {
			t.Errorf("through %s %v have not started, want %v", until, got, want)
		}
	}
	if first, last := l.Unstarted(none, clock(t, "08:45:00")); !first.IsZero() || !last.IsZero() {
		t.Errorf("of a schedule that cannot be read %s to %s have not started", first, last)
	}
	if entries := l.PassOver(v, clock(t, "08:09:00")); entries != nil {
		t.Errorf("passed over: %s", said(entries...))
	}
	if e, was := l.Replace(clock(t, "08:01:00")); was || !l.Through.Equal(clock(t, "08:05:00")) {
		t.Errorf("a schedule of before goes with %+v, through %s", e, l.Through)
	}
	if l.Drop(v, clock(t, "08:01:00"), ticks.Deleted); !l.Through.Equal(clock(t, "08:05:00")) {
		t.Errorf("the ledger goes back to %s", l.Through)
	}
}
