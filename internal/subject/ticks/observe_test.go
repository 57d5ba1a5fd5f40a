package ticks_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/subject/ticks"
)

// TestSee: what is told of the due times of each quarter of an hour when another controller is seen to have started
// one. The ledger has told those through 09:00.
func TestSee(t *testing.T) {
	type gap struct{ from, until string }
	for _, row := range []struct {
		sentence string
		text     string // of the schedule
		gaps     []gap
		started  string
		want     string
	}{
		{"the next one", "", nil, "09:15:00", "09:15 started"},
		{"those before were not started", "", nil, "10:00:00", "09:15-09:45 not started 10:00; 10:00 started"},
		{"one that has its fate", "", nil, "09:00:00", "09:00 started again"},
		{"no due time of the schedule: a controller made the Job all the same", "", nil, "09:20:00", "09:15 not started 09:20; 09:20 started"},
		{"a schedule that cannot be read has no due times", "none", nil, "10:00:00", "10:00 started"},
		{"nobody watched", "", []gap{{"09:10:00", "09:50:00"}}, "10:00:00", "09:15-09:45 unknown; 10:00 started"},
		{"nobody watched some of the time: the one before may have been started late", "", []gap{{"09:40:00", "09:50:00"}}, "10:15:00",
			"09:15 not started 10:15; 09:30-09:45 unknown; 10:00 not started 10:15; 10:15 started"},
		{"a gap that begins when a create for the one before is over", "", []gap{{"09:46:11", "09:59:00"}}, "10:15:00",
			"09:15-09:30 not started 10:15; 09:45 unknown; 10:00 not started 10:15; 10:15 started"},
		{"a gap of before", "", []gap{{"08:00:00", "08:30:00"}}, "09:30:00", "09:15 not started 09:30; 09:30 started"},
		{"a gap that is of no due time", "", []gap{{"09:17:00", "09:20:00"}}, "09:45:00", "09:15 unknown; 09:30 not started 09:45; 09:45 started"},
		{"two gaps", "", []gap{{"09:14:00", "09:16:00"}, {"09:59:00", "10:01:00"}}, "10:30:00",
			"09:15 unknown; 09:30 not started 10:30; 09:45-10:00 unknown; 10:15 not started 10:30; 10:30 started"},
		{"@every counts from its anchor", "@every 7m", nil, "09:21:00", "09:07-09:14 not started 09:21; 09:21 started"},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			v := view(t, row.text)
			for _, g := range row.gaps {
				v.Gaps = append(v.Gaps, ticks.Gap{From: clock(t, g.from), Until: clock(t, g.until)})
			}
			l := ticks.Begin(clock(t, "09:00:00"))
			if got := said(l.See(v, clock(t, row.started))...); got != row.want {
				t.Errorf("it is told: %s\nwant        %s", got, row.want)
			}
			if started := clock(t, row.started); row.sentence != "one that has its fate" && !l.Through.Equal(started) {
				t.Errorf("all through %s have their fates, want %s", l.Through, started)
			}
		})
	}
}

func view(t *testing.T, text string) *ticks.View {
	switch text {
	case "none":
		return &ticks.View{None: true, Schedule: parsed(t, "*/15 * * * *", "")} // its zone cannot be read
	case "":
		text = "*/15 * * * *"
	}
	return &ticks.View{Schedule: parsed(t, text, ""), Anchor: clock(t, "09:00:00")}
}

// TestPassOverAndDrop: of those that have passed the last one may yet start, until no more do.
func TestPassOverAndDrop(t *testing.T) {
	v := view(t, "")
	for _, row := range []struct {
		sentence, end, passed, dropped string
		gap                            bool
	}{
		{"none has passed", "09:14:59", "", "", false},
		{"one has passed", "09:15:00", "", "09:15 CronJob deleted", false},
		{"two have passed", "09:31:00", "09:15 not started", "09:15 not started; 09:30 CronJob deleted", false},
		{"nobody watched", "09:31:00", "09:15 unknown", "09:15 unknown; 09:30 unknown", true},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			v.Gaps = nil
			if row.gap {
				v.Gaps = []ticks.Gap{{From: clock(t, "09:01:00"), Until: clock(t, "09:30:30")}}
			}
			l := ticks.Begin(clock(t, "09:00:00"))
			if got := said(l.PassOver(v, clock(t, row.end))...); got != row.passed {
				t.Errorf("passed over: %s, want %s", got, row.passed)
			}
			l = ticks.Begin(clock(t, "09:00:00"))
			if got := said(l.Drop(v, clock(t, row.end), ticks.Deleted)...); got != row.dropped {
				t.Errorf("dropped: %s, want %s", got, row.dropped)
			}
			if !l.Through.Equal(clock(t, row.end)) {
				t.Errorf("it is told through %s", l.Through)
			}
		})
	}
}

// TestEachInstantIsToldOnce: whatever is seen, with whatever gaps, entries follow one another, have each instant of the
// schedule once, and an instant that a gap may have hidden is never said not to have been started.
func TestEachInstantIsToldOnce(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 20))
		v := view(t, []string{"", "* * * * *", "7 * * * *", "@every 7m", "0,5,50 * * * *"}[r.IntN(5)])
		begin := clock(t, "09:00:00")
		for at := begin; r.IntN(4) > 0; {
			from := at.Add(time.Duration(r.IntN(5000)) * time.Second)
			at = from.Add(time.Duration(r.IntN(5000)) * time.Second)
			v.Gaps = append(v.Gaps, ticks.Gap{From: from, Until: at})
		}
		l, told := ticks.Begin(begin), begin
		for at := begin; at.Before(begin.Add(24 * time.Hour)); {
			for range 1 + r.IntN(20) {
				at = v.Next(at)
			}
			for _, e := range l.See(v, at) {
				if next := v.Next(told); !e.First.Equal(next) || e.Last.Before(e.First) {
					t.Fatalf("seed %d: %s follows %s, want %s", seed, said(e), told, next)
				}
				for due := e.First; !due.After(e.Last); due = v.Next(due) {
					hidden := false
					for _, g := range v.Gaps {
						hidden = hidden || !due.Before(g.From.Add(-time.Second)) && !due.After(g.Until)
					}
					if hidden && e.Fate == ticks.Skipped {
						t.Fatalf("seed %d: nobody watched at %s, and it is told: %s", seed, due, said(e))
					}
				}
				told = e.Last
			}
			if !told.Equal(at) {
				t.Fatalf("seed %d: told through %s, want %s", seed, told, at)
			}
		}
	}
}
