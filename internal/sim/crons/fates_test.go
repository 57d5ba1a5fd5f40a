package crons

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/schedule"
	"github.com/jobledger/jobledger/internal/zones"
)

// fates are what the decisions about a CronJob have said of its due times, which are compared with its schedule.
type fates struct {
	ledger  *events.TickLedger
	by      schedule.Schedule // as the ledger says
	at      time.Time         // through which they have been compared
	counts  map[events.TickFate]int
	total   int
	started map[events.Time]int // by due time, as the ledger says
	created map[events.Time]int // by due time, as the API server has made Jobs
}

func (f *fates) begin(facts *events.CronJobSeen) {
	f.at = facts.Created.Go()
	f.by = read(facts.Schedule, facts.TimeZone)
	f.counts, f.started, f.created = map[events.TickFate]int{}, map[events.Time]int{}, map[events.Time]int{}
}

func read(text string, zone *string) schedule.Schedule {
	in := time.UTC
	if zone != nil {
		r, _ := zones.Find(*zone)
		in, _ = time.LoadLocationFromTZData(*zone, r.TZif)
	}
	s, err := schedule.Parse(text, in, nil)
	if err != nil {
		panic(err)
	}
	return s
}

func (f *fates) made(t *testing.T, due events.Time) {
	f.created[due]++
	if f.created[due] > 1 {
		t.Fatalf("two Jobs were made for %s", due.Go())
	}
}

// hear compares what a step says: each due time once, in order, and no other instant.
func (f *fates) hear(t *testing.T, said *events.CronStep, now events.Time) {
	t.Helper()
	for _, tick := range said.Ticks {
		if tick.Fate == events.TickStarted || tick.Fate == events.TickAgain {
			f.started[tick.First]++
			if tick.Fate == events.TickStarted && f.started[tick.First] > 1 {
				t.Fatalf("%s started twice", tick.First.Go())
			}
		}
		f.counts[tick.Fate]++
		if tick.Fate >= events.TickAgain {
			continue
		}
		if !tick.First.Go().After(f.at) {
			t.Fatalf("the fate %d of %s comes after that of %s", tick.Fate, tick.First.Go(), f.at)
		}
		n := 0
		for at := range f.by.Between(f.at, tick.Last.Go()) {
			if n == 0 && !f.by.Every() && // whose instants count from the last run, also when the schedule was changed since (C-033)
				!at.Equal(tick.First.Go()) {
				t.Fatalf("the fate %d begins at %s, want %s", tick.Fate, tick.First.Go(), at)
			}
			n++
		}
		if n == 0 && !f.by.Every() {
			t.Fatalf("there is no due time from %s through %s, after %s: fate %d", tick.First.Go(), tick.Last.Go(), f.at, tick.Fate)
		}
		n = max(n, 1)
		f.counts[tick.Fate] += n - 1
		f.total += n
		f.at = tick.Last.Go()
	}
	if l := said.Ledger; l != nil {
		if f.ledger == nil || f.ledger.Schedule != l.Schedule || zoneOf(f.ledger) != zoneOf(l) {
			for at := range f.by.Between(f.at, l.Through.Go()) {
				if f.by.Every() {
					break
				}
				t.Fatalf("%s has no fate, and the schedule was changed", at)
			}
			f.by = read(l.Schedule, l.TimeZone)
			f.at = l.Through.Go()
		}
		stands := *l
		f.ledger = &stands
	}
}

func zoneOf(l *events.TickLedger) string {
	if l.TimeZone == nil {
		return ""
	}
	return *l.TimeZone
}

// conclude checks that no due time until now lacks a fate, but for the one that is open, and that each Job that was made has one.
func (f *fates) conclude(t *testing.T, now events.Time) {
	t.Helper()
	open := events.Time(0)
	if f.ledger != nil {
		open = f.ledger.Open
	}
	for at := range f.by.Between(f.at, now.Go()) {
		if !at.Equal(open.Go()) && !f.by.Every() {
			t.Errorf("%s has no fate; through %s", at, f.at)
			break
		}
	}
	for due := range f.created {
		if f.started[due] == 0 {
			t.Errorf("a Job was made for %s, and the ledger does not say so", due.Go())
		}
	}
	for due := range f.started {
		if f.created[due] == 0 {
			t.Errorf("%s has started, and no Job was made for it", due.Go())
		}
	}
}
