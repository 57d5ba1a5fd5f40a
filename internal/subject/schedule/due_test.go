package schedule_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// The worked examples of the contract, by their numbers there (C-071 to C-088).
func TestWorkedExamples(t *testing.T) {
	const day = "2026-03-02T" // a Monday
	seconds := func(n int64) *int64 { return &n }
	for _, row := range []struct {
		sentence, text, zone string
		anchor               string
		deadline             *int64
		now                  string
		due                  string // empty for none
		missed               schedule.Missed
		wait, after          time.Duration // W if not started, and after a start; 0 where the contract has none
	}{
		{"1: before the first instant nothing is due (C-074)", "15 * * * *", "", day + "08:20:00Z", nil, day + "08:50:00Z", "", schedule.MissedNone, 25*time.Minute + 100*time.Millisecond, 0},
		{"2: at the instant (C-075)", "15 * * * *", "", day + "08:10:00Z", nil, day + "08:15:00Z", day + "08:15:00Z", schedule.MissedNone, 0, time.Hour + 100*time.Millisecond},
		{"3: five missed, one run (C-077, C-081)", "15 * * * *", "", day + "09:15:00Z", nil, day + "14:20:00Z", day + "14:15:00Z", schedule.MissedFew, 0, 55*time.Minute + 100*time.Millisecond},
		{"4: exactly 100 are few (C-078)", "*/10 * * * *", "", "2026-03-01T00:00:00Z", nil, "2026-03-01T16:49:59Z", "2026-03-01T16:40:00Z", schedule.MissedFew, 0, 1100 * time.Millisecond},
		{"5: 101 are many (C-078, C-082)", "*/10 * * * *", "", "2026-03-01T00:00:00Z", nil, "2026-03-01T16:55:00Z", "2026-03-01T16:50:00Z", schedule.MissedMany, 0, 5*time.Minute + 100*time.Millisecond},
		{"6: a deadline moves the anchor (C-072)", "*/10 * * * *", "", "2026-03-01T00:00:00Z", seconds(3600), "2026-03-01T16:55:00Z", "2026-03-01T16:50:00Z", schedule.MissedFew, 0, 5*time.Minute + 100*time.Millisecond},
		{"7: within the deadline (C-083)", "0 6 * * *", "", "2026-03-01T06:00:00Z", seconds(300), day + "06:04:59Z", day + "06:00:00Z", schedule.MissedNone, 23*time.Hour + 55*time.Minute + 1100*time.Millisecond, 0},
		{"8: at its end it is too late (C-083, C-088)", "0 6 * * *", "", "2026-03-01T06:00:00Z", seconds(300), day + "06:05:00Z", "", schedule.MissedNone, 23*time.Hour + 55*time.Minute + 100*time.Millisecond, 0},
		{"9: a deadline of 0 starts nothing (C-083)", "0 6 * * *", "", "2026-03-01T06:00:00Z", seconds(0), day + "06:00:00Z", "", schedule.MissedNone, 24*time.Hour + 100*time.Millisecond, 0},
		{"10: the estimate loses a run (C-080)", "0 9,10,11 * * 1-5", "", day + "09:00:00Z", nil, "2026-03-03T14:30:00Z", "", schedule.MissedFew, 18*time.Hour + 30*time.Minute + 100*time.Millisecond, 0},
		{"11: uneven, and found (C-077)", "0 8-18/5 * * 1-5", "", day + "08:00:00Z", nil, "2026-03-03T13:05:00Z", "2026-03-03T13:00:00Z", schedule.MissedFew, 0, 4*time.Hour + 55*time.Minute + 100*time.Millisecond},
		{"12: @every from the creation (C-071)", "@every 20m", "", day + "08:07:00Z", nil, day + "08:20:00Z", "", schedule.MissedNone, 7*time.Minute + 100*time.Millisecond, 0},
		{"13: @every stays on its grid (C-077)", "@every 20m", "", day + "08:27:00Z", nil, day + "10:00:00Z", day + "09:47:00Z", schedule.MissedFew, 0, 7*time.Minute + 100*time.Millisecond},
		{"14: @every with a shorter deadline never starts (C-084)", "@every 20m", "", day + "08:27:00Z", seconds(60), day + "08:47:10Z", "", schedule.MissedNone, 19*time.Minute + 50100*time.Millisecond, 0},
		{"15: @every with a longer one (C-084)", "@every 20m", "", day + "08:27:00Z", seconds(1800), day + "08:47:10Z", day + "08:47:00Z", schedule.MissedNone, 19*time.Minute + 50100*time.Millisecond, 0},
		{"17: a local time that does not exist is skipped (C-046)", "30 2 * * *", "America/New_York", "2026-03-07T07:30:00Z", nil, "2026-03-08T16:00:00Z", "", schedule.MissedNone, 14*time.Hour + 30*time.Minute + 100*time.Millisecond, 0},
		{"18: one that occurs twice fires twice (C-047)", "30 1 * * *", "America/New_York", "2026-11-01T05:30:00Z", nil, "2026-11-01T06:31:00Z", "2026-11-01T06:30:00Z", schedule.MissedNone, 0, 23*time.Hour + 59*time.Minute + 100*time.Millisecond},
		{"19: midnight may not exist (C-046)", "0 0 * * *", "Africa/Cairo", "2026-04-22T22:00:00Z", nil, "2026-04-24T09:00:00Z", "", schedule.MissedNone, 12*time.Hour + 100*time.Millisecond, 0},
		{"20: two days a week (C-077)", "0 22 * * 1,2", "", day + "22:00:00Z", nil, "2026-03-20T09:00:00Z", "2026-03-17T22:00:00Z", schedule.MissedFew, 0, 85*time.Hour + 100*time.Millisecond},
		{"an anchor in the future: nothing is due (C-225, C-226)", "15 * * * *", "", "2027-01-01T00:00:00Z", nil, day + "08:50:00Z", "", schedule.MissedNone, 0, 0},
		{"a deadline beyond what a duration holds never comes", "15 * * * *", "", day + "08:10:00Z", seconds(1 << 62), day + "08:15:00Z", day + "08:15:00Z", schedule.MissedNone, 0, 0},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			s := parsed(t, row.text, row.zone)
			anchor, now := at(t, row.anchor), at(t, row.now)
			d, err := s.Due(schedule.Anchor(anchor, now, row.deadline), now)
			if err != nil {
				t.Fatal(err)
			}
			if row.due == "" && !d.At.IsZero() || row.due != "" && !d.At.Equal(at(t, row.due)) {
				t.Errorf("due is %v, want %q", d.At, row.due)
			}
			if d.Missed != row.missed {
				t.Errorf("missed: %d (%d instants), want %d", d.Missed, d.Count, row.missed)
			}
			if wait := s.Wake(anchor, now).Sub(now); row.wait != 0 && wait != row.wait {
				t.Errorf("it waits for %v, want %v", wait, row.wait)
			}
			if row.after == 0 {
				return
			}
			if wait := s.Wake(d.At, now).Sub(now); wait != row.after {
				t.Errorf("after a start it waits for %v, want %v", wait, row.after)
			}
		})
	}
}

// A schedule that never matches is an error once its anchor is past (C-079), and it is never looked at again for its
// own sake.
func TestNever(t *testing.T) {
	for _, text := range []string{"0 0 30 2 *", ", * * * *"} {
		s := parsed(t, text, "")
		now := at(t, "2026-03-02T08:50:00Z")
		if _, err := s.Due(now.Add(-time.Hour), now); !errors.Is(err, schedule.ErrInterval) {
			t.Errorf("%q: %v", text, err)
		}
		if wake := s.Wake(now.Add(-time.Hour), now); !wake.IsZero() {
			t.Errorf("%q wakes at %v", text, wake)
		}
	}
}

// A range of instants is counted by the schedule, and not estimated.
func TestBetween(t *testing.T) {
	s := parsed(t, "0 9,10,11 * * 1-5", "")
	n := 0
	for range s.Between(at(t, "2026-03-02T09:00:00Z"), at(t, "2026-03-03T11:00:00Z")) {
		n++
	}
	if n != 5 {
		t.Errorf("%d instants, want 5", n)
	}
}

// The latest instant of a range is found from its end, and is the same as when all are visited.
func TestLast(t *testing.T) {
	from := at(t, "2026-03-02T08:00:00Z")
	for _, text := range []string{"*/7 * * * *", "0 9,10,11 * * 1-5", "@every 37m", "30 2 13 * 5", "0 0 29 2 *", "@yearly"} {
		s := parsed(t, text, "")
		for _, after := range []time.Duration{0, time.Minute, 25 * time.Hour, 40 * 24 * time.Hour, 900 * 24 * time.Hour} {
			var want time.Time
			for tick := range s.Between(from, from.Add(after)) {
				want = tick
			}
			if got := s.Last(from, from.Add(after)); !got.Equal(want) {
				t.Errorf("%q: the last in %v is %v, want %v", text, after, got, want)
			}
		}
	}
}

// TestAnAnchorOfLongAgo: an anchor that no clock gave, as of an object without a time of creation, costs no walk over
// the instants since. It would take minutes.
func TestAnAnchorOfLongAgo(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	for _, text := range []string{"30 1,2 * * *", "* * * * *", "0 0 29 2 *"} {
		s, err := schedule.Parse(text, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, anchor := range []time.Time{{}, time.Unix(0, math.MinInt64), now.AddDate(-200, 0, 0)} {
			due, err := s.Due(anchor, now)
			if err != nil || !due.Lost() && (due.At.After(now) || now.Sub(due.At) > 3*366*24*time.Hour) {
				t.Errorf("%s since %s: %+v, %v", text, anchor, due, err)
			}
		}
	}
}

// TestCounted: from where the instants after a time are counted (C-085). In Australia/Lord_Howe half an hour is put
// back at 02:00 on 5 April 2026, and what comes next depends on it.
func TestCounted(t *testing.T) {
	s := parsed(t, "20 4,5,6 * * *", "Australia/Lord_Howe")
	for _, row := range []struct{ sentence, anchor, now, from, next string }{
		{"nothing is due: the anchor", "2026-04-04T13:24:00Z", "2026-04-04T15:40:00Z", "2026-04-04T13:24:00Z", "2026-04-04T18:50:00Z"},
		{"an anchor of after the change", "2026-04-04T15:40:00Z", "2026-04-04T15:40:00Z", "2026-04-04T15:40:00Z", "2026-04-04T17:50:00Z"},
		{"one is due", "2026-04-04T13:24:00Z", "2026-04-04T18:55:00Z", "2026-04-04T18:50:00Z", "2026-04-04T19:50:00Z"},
		{"some have passed, and the estimate finds none (C-080)", "2026-04-04T19:50:00Z", "2026-04-06T17:00:00Z", "2026-04-06T17:00:00Z", "2026-04-06T17:50:00Z"},
	} {
		from := s.Counted(at(t, row.anchor), at(t, row.now))
		if next := s.Next(from); !from.Equal(at(t, row.from)) || !next.Equal(at(t, row.next)) {
			t.Errorf("%s: from %s comes %s, want %s and %s", row.sentence, from, next, row.from, row.next)
		}
	}
}
