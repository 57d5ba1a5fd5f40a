package crons

import (
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/read/duetimes"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// TestAnotherControllersFates lives through days in which another controller runs the CronJobs. Ours looks on, is down,
// records no CronJobs, or takes over for a while. Each due time has one fate, and no other instant has one. Each fate
// either tells what the other controller did, or says that this is unknown. A reader of the log finds the same. The log
// replays without a divergence. JOBLEDGER_SEED is the first seed.
func TestAnotherControllersFates(t *testing.T) {
	t.Parallel()
	worlds, days := 4-effort.Step(2), 1 // 2 worlds in make test
	if effort.IsLong() {
		worlds, days = 300, 20
	}
	first, _ := strconv.ParseUint(os.Getenv("JOBLEDGER_SEED"), 10, 64)
	fates, due, records := map[events.TickFate]int{}, 0, uint64(0)
	for seed := first; seed < first+uint64(worlds); seed++ {
		o := newOnlooker(newMachine(t, seed))
		o.live(days)
		for _, a := range o.accounts() {
			a.judge(o)
			due += a.due
			for fate, n := range a.counts {
				fates[fate] += n
			}
		}
		records += uint64(o.log.Head().Sequence)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d due times, %d records: %v", due, records, fates)
	for _, f := range []events.TickFate{events.TickStarted, events.TickManual, events.TickSkipped, events.TickUnknown} {
		if fates[f] == 0 {
			t.Errorf("no due time has the fate %d", f)
		}
	}
}

// account holds the fates of one CronJob's due times, as the log tells them.
type account struct {
	t      *testing.T
	uid    types.UID
	by     schedule.Schedule // the schedule that the ledger names
	text   string
	at     time.Time // all due times up to here have their fates
	base   events.Time
	counts map[events.TickFate]int
	due    int
	jobs   map[types.UID]bool // Jobs that were told
	ticks  []events.Tick      // entries of due times, in order
	again  []events.Tick
	closed bool
}

// accounts replays the log, and returns an account of each CronJob.
func (o *onlooker) accounts() (all []*account) {
	o.t.Helper()
	of := map[string]*account{}
	o.replayed(func(rec *events.Record) {
		a := of[rec.Stream.ID]
		switch f := rec.Facts.(type) {
		case *events.CronJobSeen:
			if a == nil {
				a = &account{t: o.t, uid: types.UID(rec.Stream.ID), counts: map[events.TickFate]int{}, jobs: map[types.UID]bool{}}
				a.base = max(f.Created, f.LastSchedule)
				a.at = a.base.Go()
				a.count(f.Schedule)
				of[rec.Stream.ID] = a
				all = append(all, a)
			}
		case *events.Decision:
			for i := range f.Steps {
				if said := f.Steps[i].Cron; said != nil {
					a.hear(said, rec)
				}
			}
			if rec.Kind == events.KindTicksObserved && len(f.Commands()) > 0 {
				o.t.Errorf("record %d asks for something of a CronJob that another controller runs", rec.Sequence)
			}
		}
	})
	for _, a := range all {
		a.read(o)
	}
	return all
}

func (a *account) count(text string) {
	s, err := schedule.Parse(text, time.UTC, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	a.by, a.text = s, text
}

// hear checks a decision's step: it tells each due time once, in order, and no other instant.
func (a *account) hear(said *events.CronStep, rec *events.Record) {
	a.t.Helper()
	for _, tick := range said.Ticks {
		if tick.Job != "" {
			if a.jobs[tick.Job] {
				a.t.Fatalf("record %d tells of Job %s again", rec.Sequence, tick.Name)
			}
			a.jobs[tick.Job] = true
		}
		switch tick.Fate {
		case events.TickAgain:
			a.again = append(a.again, tick)
			fallthrough
		case events.TickManual, events.TickTriggered:
			a.counts[tick.Fate]++
			continue
		default:
		}
		n := a.walk(&tick, rec)
		a.due += n
		a.counts[tick.Fate] += n
		a.at = tick.Last.Go()
		a.ticks = append(a.ticks, tick)
		if tick.Fate == events.TickUnknown && tick.UnwatchedUntil < tick.First {
			a.t.Fatalf("record %d: %s to %s is unknown, as it was not watched to %s", rec.Sequence, tick.First.Go(), tick.Last.Go(), tick.UnwatchedUntil.Go())
		}
	}
	if l := said.Ledger; l != nil {
		if l.Schedule != a.text {
			if next := a.by.Next(a.at); !a.by.Every() && !next.IsZero() && !next.After(l.Through.Go()) {
				a.t.Fatalf("record %d: %s has no fate, and the schedule was changed", rec.Sequence, next)
			}
			a.count(l.Schedule)
			a.at = l.Through.Go()
		}
		a.closed = l.Closed
	}
}

// walk counts the due times of an entry, and checks that it follows the ones before. A Job of another controller may
// belong to another schedule.
func (a *account) walk(tick *events.Tick, rec *events.Record) (n int) {
	a.t.Helper()
	if !tick.First.Go().After(a.at) {
		a.t.Fatalf("record %d: the fate %d of %s comes after that of %s", rec.Sequence, tick.Fate, tick.First.Go(), a.at)
	}
	if a.by.Every() {
		for range a.by.Between(tick.First.Go(), tick.Last.Go()) {
			n++
		}
		return n + 1
	}
	started := tick.Observed && tick.Fate == events.TickStarted
	for at := range a.by.Between(a.at, tick.Last.Go()) {
		if n++; n == 1 && !at.Equal(tick.First.Go()) {
			a.t.Fatalf("record %d: the fate %d begins at %s, want %s", rec.Sequence, tick.Fate, tick.First.Go(), at)
		}
	}
	if n == 0 && !started {
		a.t.Fatalf("record %d: no due time from %s to %s, after %s: fate %d", rec.Sequence, tick.First.Go(), tick.Last.Go(), a.at, tick.Fate)
	}
	return max(n, 1)
}

// judge compares the fates told of the other controller with its starts.
func (a *account) judge(o *onlooker) {
	a.t.Helper()
	if !a.closed {
		a.t.Errorf("CronJob %s is deleted, and its ledger goes on", a.uid)
	}
	for _, s := range o.other.starts[a.uid] {
		tick, told := find(a.ticks, s.due), a.jobs[s.job] || find(a.again, s.due) != nil
		switch {
		case s.due <= a.base || told || s.off:
		case tick == nil:
			a.t.Errorf("%s was started, and has no fate", s.due.Go())
		case tick.Fate == events.TickUnknown, tick.Fate == events.TickStarted: // a start may show in the status only
		default:
			a.t.Errorf("%s was started by another controller, and is told to have the fate %d", s.due.Go(), tick.Fate)
		}
	}
	for i := range a.ticks {
		tick := &a.ticks[i]
		if tick.Observed && tick.Fate == events.TickStarted && !o.made[a.uid][tick.First] {
			a.t.Errorf("%s is told to be started by another controller, and was not", tick.First.Go())
		}
	}
}

func find(all []events.Tick, due events.Time) *events.Tick {
	for i := range all {
		if all[i].First <= due && due <= all[i].Last {
			return &all[i]
		}
	}
	return nil
}

// read compares the answer of a reader of the log with the records.
func (a *account) read(o *onlooker) {
	a.t.Helper()
	c, err := duetimes.Read(a.t.Context(), history.Local{Log: o.log}, events.CronJobStream(a.uid))
	if err != nil {
		a.t.Fatal(err)
	}
	n := 0
	for i := range c.Entries {
		if e := &c.Entries[i]; e.Fate != events.TickAgain && e.Fate != events.TickManual && e.Fate != events.TickTriggered {
			k, _ := c.Count(e)
			n += max(k, 1)
		}
	}
	if n != a.due {
		a.t.Errorf("a reader counts %d due times of %s, and the walk %d", n, a.uid, a.due)
	}
}
