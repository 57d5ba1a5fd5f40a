package crons

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
)

// fates collects the outcomes (fates) that decisions about a CronJob tell of its due times, and compares them with a
// walk over its schedule.
type fates struct {
	ledger   *events.TickLedger
	by       *timetable // the schedule that the ledger names
	wall     []uint32   // the times that clocks show in its zone
	at       time.Time  // the instant up to which they have been compared
	counts   map[events.TickFate]int
	due      int                  // number of due times that the walk has passed
	told     []bool               // for each minute: the ledger says that a run has started
	made     []bool               // for each minute: the API server has made a Job
	untold   map[types.UID]string // Jobs that the ledger has not told yet, with how they were made
	went     map[types.UID]string // Jobs that went with the CronJob: the answer to a create may still tell one
	newest   []time.Time          // due times of the newest Jobs, and the creation: @every counts from one of these
	asked    map[string]bool      // triggers that a controller was shown
	answered int                  // number of entries for triggers, one each
	came     map[string]bool      // their names: one comes twice if a first request arrives after the second Job was deleted
	shown    []edit               // schedules that a controller has been shown, the newest last
}

// asker is the user who asks for runs.
const asker = "jane"

// edit is a schedule that a controller was shown at a time.
type edit struct {
	by   *timetable
	zone *string
	at   events.Time
}

func (f *fates) begin(created events.Time) {
	f.at = created.Go()
	f.asked, f.came = map[string]bool{}, map[string]bool{}
	f.counts, f.untold, f.newest = map[events.TickFate]int{}, map[types.UID]string{}, []time.Time{created.Go()}
	f.told, f.made = make([]bool, spanMinutes), make([]bool, spanMinutes)
}

func text(zone *string) string {
	if zone == nil {
		return ""
	}
	return *zone
}

// show notes a schedule that a controller is shown.
func (f *fates) show(by *timetable, zone *string, at events.Time) {
	if n := len(f.shown); n > 0 && f.shown[n-1].by == by && text(f.shown[n-1].zone) == text(zone) {
		return
	}
	if len(f.shown) == 0 { // a ledger begins at the creation, with the schedule known first
		f.by, f.wall, f.ledger = by, wall(text(zone)), &events.TickLedger{Through: events.At(f.at), Schedule: by.text, TimeZone: zone}
	}
	f.shown = append(f.shown, edit{by, zone, at})
}

// stepped notes that the controller's clock was set.
func (f *fates) stepped(by time.Duration) {
	if n := len(f.shown); n > 0 {
		f.shown[n-1].at = f.shown[n-1].at.Add(by)
	}
}

// create notes that the API server has made a Job. late: its sender had given up the request, so another Job of the
// minute may have existed before.
func (f *fates) create(t *testing.T, uid types.UID, due events.Time, late bool) {
	f.untold[uid] = fmt.Sprintf("late: %t, due %s", late, due.Go().UTC())
	if due == 0 {
		return
	}
	at := minuteOf(due.Go())
	if f.made[at] && !late {
		t.Fatalf("two Jobs were made for %s", due.Go())
	}
	f.made[at] = true
	f.newest = append(f.newest, due.Go())
	f.newest = f.newest[max(0, len(f.newest)-64):]
}

// hear checks a decision's step: it tells each due time once, in order, no other instant, and each Job once.
func (f *fates) hear(t *testing.T, said *events.CronStep, away *downs, now events.Time) {
	t.Helper()
	for i := range said.Ticks {
		tick := &said.Ticks[i]
		f.hearJob(t, tick)
		if (tick.Fate == events.TickTriggered || tick.By == asker) && !f.came[tick.Name] {
			f.answered++
			f.came[tick.Name] = tick.Name != ""
		}
		if tick.Fate >= events.TickAgain || tick.By != "" { // By: a trigger that is too late or refused
			f.counts[tick.Fate]++
			continue
		}
		n := f.walk(t, tick)
		f.counts[tick.Fate] += n
		f.due += n
		f.at = tick.Last.Go()
		switch tick.Fate {
		case events.TickUnwatched:
			away.hearUnwatched(t, tick)
		case events.TickMerged:
			away.hearMerged(t, tick, f)
		}
		switch {
		case tick.Fate == events.TickMerged && (tick.Into <= tick.Last || f.by.every == 0 && !f.isDue(tick.Into.Go())):
			t.Fatalf("%s is told to have merged into %s, which is no later due time", tick.Last.Go(), tick.Into.Go())
		case tick.Last > now:
			t.Fatalf("%s has the fate %d, and is to come", tick.Last.Go(), tick.Fate)
		}
	}
	if l := said.Ledger; l != nil {
		f.hearLedger(t, l, now)
	}
}

// leave notes that the CronJob is deleted, and its Jobs with it.
func (f *fates) leave() { f.went, f.untold = f.untold, map[types.UID]string{} }

// hearJob checks an entry that may tell of a Job.
func (f *fates) hearJob(t *testing.T, tick *events.Tick) {
	t.Helper()
	has := tick.Fate == events.TickStarted || tick.Fate == events.TickAgain || tick.Fate == events.TickTriggered || tick.Fate == events.TickManual
	switch {
	case !has && tick.Job == "":
	case has && f.untold[tick.Job] != "":
		delete(f.untold, tick.Job)
	case has && f.went[tick.Job] != "":
		delete(f.went, tick.Job)
	default:
		t.Fatalf("the fate %d of %s names the Job %q, which was told before or not made", tick.Fate, tick.First.Go(), tick.Job)
	}
	if tick.Fate == events.TickStarted && tick.By == "" {
		if at := minuteOf(tick.First.Go()); f.told[at] {
			t.Fatalf("%s started twice", tick.First.Go())
		} else {
			f.told[at] = true
		}
	}
}

// walk counts the due times of an entry, and checks that it follows the one before.
func (f *fates) walk(t *testing.T, tick *events.Tick) (n int) {
	t.Helper()
	first, last := tick.First.Go(), tick.Last.Go()
	if !first.After(f.at) || last.Before(first) {
		t.Fatalf("the fate %d of %s through %s comes after that of %s", tick.Fate, first, last, f.at)
	}
	if every := f.by.every; every != 0 {
		if last.Sub(first)%every != 0 || !slices.ContainsFunc(f.newest, func(from time.Time) bool {
			return first.After(from) && first.Sub(from)%every == 0 && !first.Add(-every).After(f.at)
		}) {
			t.Fatalf("%s: the fate %d of %s through %s comes after that of %s; it may count from %v", f.by.text, tick.Fate, first, last, f.at, f.newest)
		}
		return int(last.Sub(first)/every) + 1
	}
	for m := minuteOf(f.at) + 1; m <= minuteOf(last); m++ {
		if !f.by.isDue(f.wall[m]) {
			continue
		}
		if n++; n == 1 && m != minuteOf(first) {
			t.Fatalf("the fate %d begins at %s, want %s", tick.Fate, first, spanStart.Add(time.Duration(m)*time.Minute))
		}
	}
	if n == 0 || !f.isDue(last) || !f.isDue(first) {
		t.Fatalf("%q is not due at %s or at %s: fate %d", f.by.text, first, last, tick.Fate)
	}
	return n
}

func (f *fates) isDue(at time.Time) bool {
	return at.Second() == 0 && at.Nanosecond() == 0 && f.by.isDue(f.wall[minuteOf(at)])
}

// next returns the first due time after the compared ones; zero if there is none until then.
func (f *fates) next(until time.Time) time.Time {
	if f.by.every != 0 {
		return time.Time{} // an onlooker does not know from when @every counts
	}
	for m := minuteOf(f.at) + 1; m <= minuteOf(until); m++ {
		if f.by.isDue(f.wall[m]) {
			return spanStart.Add(time.Duration(m) * time.Minute)
		}
	}
	return time.Time{}
}

// hearLedger checks the state of the ledger: each due time up to its instant has a fate, and it counts by the newest
// shown schedule, from when that was shown.
func (f *fates) hearLedger(t *testing.T, l *events.TickLedger, now events.Time) {
	t.Helper()
	if at := f.next(l.Through.Go()); !at.IsZero() {
		t.Fatalf("%q: %s has no fate, and all have one through %s", f.by.text, at, l.Through.Go())
	}
	if f.ledger.Schedule != l.Schedule || text(f.ledger.TimeZone) != text(l.TimeZone) {
		e := f.shown[len(f.shown)-1]
		if e.by.text != l.Schedule || text(e.zone) != text(l.TimeZone) {
			t.Fatalf("the ledger counts by %q in %q, and %q in %q was shown", l.Schedule, text(l.TimeZone), e.by.text, text(e.zone))
		}
		if !l.Through.Go().Equal(f.at) && (l.Through < e.at || l.Through > now) {
			t.Fatalf("at %s: the ledger counts from %s on, and the schedule was shown at %s", now.Go(), l.Through.Go(), e.at.Go())
		}
		f.by, f.wall, f.at = e.by, wall(text(e.zone)), l.Through.Go()
	}
	stands := *l
	f.ledger = &stands
	if open := l.Open; open != 0 && f.by.every == 0 && (!f.isDue(open.Go()) || !open.Go().After(f.at)) {
		t.Fatalf("%s is open, which is not due or has its fate: all have through %s", open.Go(), f.at)
	}
}

// conclude checks that each due time until now has a fate, except for the open one, and that each Job was told.
func (f *fates) conclude(t *testing.T, now events.Time) {
	t.Helper()
	open := time.Time{}
	if f.ledger.Open != 0 {
		open = f.ledger.Open.Go()
	}
	if at := f.next(now.Go()); !at.IsZero() && !at.Equal(open) {
		t.Errorf("%q: %s has no fate; through %s", f.by.text, at, f.at)
	}
	if len(f.asked) != f.answered {
		t.Errorf("%d runs were asked for, and the ledger tells of %d: %v", len(f.asked), f.answered, f.asked)
	}
	for uid, how := range f.untold {
		t.Errorf("the Job %s was made (%s), and the ledger does not say so", uid, how)
	}
}
