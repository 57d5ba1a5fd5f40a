package duetimes

import (
	"cmp"
	"context"
	"slices"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/read/history"
	"github.com/jobledger/jobledger/internal/subject/schedule"
	"github.com/jobledger/jobledger/internal/subject/ticks"
	pb "github.com/jobledger/jobledger/proto/gen/jobledger/v1"
)

// Untold computes the outcomes of due times for which no record tells one. They follow from the schedules in force and
// from what was seen. Examples: another controller starts nothing at all; a CronJob was deleted a second ago; the log
// ends.

// timing is a schedule of the CronJob, and since when it was in force.
type timing struct {
	by    events.TickLedger // only Schedule, TimeZone and Zone are set
	from  events.Time       // when the schedule was first seen
	found bool              // a listing showed the schedule: it was changed while nobody watched
}

// countsBy returns a TickLedger with what the due times of a version of the CronJob follow from: its schedule, its time
// zone, and the hash of the zone rules. Its other fields are unset.
func countsBy(f *events.CronJobSeen) events.TickLedger {
	by := events.TickLedger{Schedule: f.Schedule, TimeZone: f.TimeZone}
	of := history.TimingOf(f)
	for _, name := range schedule.Named(f.Schedule, f.TimeZone) {
		if hash := of.Hash(name); hash != "" && (f.TimeZone == nil || name == *f.TimeZone || schedule.NamesZone(f.Schedule)) {
			by.Zone = hash
		}
	}
	return by
}

func (t *timing) same(by *events.TickLedger) bool {
	a, b := t.by.TimeZone, by.TimeZone
	return t.by.Schedule == by.Schedule && t.by.Zone == by.Zone && (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// timed notes that a schedule is in force from a time on. It does nothing if the schedule is the same as before. found
// is set if a listing showed it, so that the time of the change is not known.
func (c *CronJob) timed(by *events.TickLedger, from events.Time, found bool) {
	if n := len(c.timings); n == 0 || !c.timings[n-1].same(by) {
		c.timings = append(c.timings, timing{events.TickLedger{Schedule: by.Schedule, TimeZone: by.TimeZone, Zone: by.Zone}, from, found})
	}
}

// timedBefore notes the schedules that were in force before the present one. It takes them from w, the checkpoint with
// which reading began, which has only the earlier schedules with due times that are not decided yet.
func (c *CronJob) timedBefore(w *pb.CronJobState) {
	from := events.Time(0)
	for _, p := range w.GetPast() {
		c.timed(&events.TickLedger{Schedule: p.GetSchedule(), TimeZone: p.TimeZone, Zone: p.GetZone()}, from, false)
		from = events.Time(p.GetUntil())
	}
	by := countsBy(c.Seen)
	c.timed(&by, from, false)
}

// Untold returns entries (outcomes) for due times that have passed and have no record; they are computed from what was
// seen. Only the last entry may have Fate 0: its last due time may still start.
func (c *CronJob) Untold() []Entry {
	by := c.ledger()
	if by == nil || by.Closed || c.partial || c.Cut {
		return nil
	}
	if c.untold == nil {
		c.untold = c.compute(by)
	}
	return c.untold
}

func (c *CronJob) compute(by *events.TickLedger) []Entry {
	out := []Entry{}
	through := max(by.Through, by.Open)
	if c.Elsewhere {
		// If another controller runs the CronJob now, it decides about the due time that our controller held back
		// (by.Open): compute that one, too.
		through = by.Through
	}
	l := ticks.Begin(through.Go())
	end := c.now
	if c.Gone != 0 {
		end = min(c.Gone, c.now)
	}
	// If the CronJob was deleted while a due time was open, the outcome of that due time is Deleted.
	if c.Gone != 0 && by.Open != 0 && len(c.timings) > 0 && !c.Elsewhere {
		open := ticks.Entry{First: by.Open.Go(), Last: by.Open.Go(), Fate: ticks.Deleted}
		out = append(out, c.entryOf(&c.timings[0], c.kept.since, &open, nil))
	}
	starts := c.startsAfter(through)
	since := c.kept.since
	for i := range c.timings {
		t, last := &c.timings[i], i == len(c.timings)-1
		until := end
		if !last {
			until = min(c.timings[i+1].from, end)
		}
		s, err := c.of(&t.by)
		v := &ticks.View{Schedule: s, None: err != nil, Anchor: since.Go(), Gaps: c.gaps}
		add := func(all []ticks.Entry, run *events.RunSeen) {
			for j := range all {
				// If our own controller runs the CronJob, it skips a due time only for a later one: Into is the due
				// time that started instead.
				if e := &all[j]; e.Fate == ticks.Skipped && !c.Elsewhere {
					e.Into = all[len(all)-1].Last
				}
				out = append(out, c.entryOf(t, since, &all[j], run))
			}
		}
		for ; len(starts) > 0 && (last || starts[0].Due <= until); starts = starts[1:] {
			add(l.See(v, starts[0].Due.Go()), &starts[0])
			since = max(since, starts[0].Due) // @every counts from the newest start
			v.Anchor = since.Go()
		}
		switch {
		case !last:
			add(l.Drop(v, until.Go(), ticks.Replaced), nil)
		case c.Gone != 0:
			add(l.Drop(v, until.Go(), ticks.Deleted), nil)
		// While a listing runs, Jobs that were started since the last watch may not be listed yet: the outcome is
		// unknown.
		case c.unlisted != nil && c.Elsewhere:
			add(l.Drop(v, until.Go(), ticks.Unknown), nil)
		case c.Blind != 0:
			v.Gaps = append(slices.Clone(v.Gaps), ticks.Gap{From: c.Blind.Go(), Until: until.Go()})
			all := l.Drop(v, until.Go(), ticks.Unknown)
			for j := range all {
				if all[j].Fate == ticks.Skipped && !c.Elsewhere {
					all[j].Fate = 0 // our controller made no decision about it, so it has no outcome
				}
			}
			add(all, nil)
		default:
			if first, newest := l.Unstarted(v, until.Go()); !newest.IsZero() {
				out = append(out, c.entryOf(t, since, &ticks.Entry{First: first, Last: newest}, nil))
			}
		}
	}
	return out
}

// entryOf converts a computed outcome e into an entry without a record. since is the newest due time that started
// before it. run is the Job that was seen for it; nil for none.
func (c *CronJob) entryOf(t *timing, since events.Time, e *ticks.Entry, run *events.RunSeen) Entry {
	tick := events.Tick{
		First: events.At(e.First), Last: events.At(e.Last), Fate: events.TickFate(e.Fate), Into: events.At(e.Into), Zone: t.by.Zone,
		Observed: c.Elsewhere,
	}
	switch {
	case e.Fate == ticks.Unknown:
		tick.Observed = true
		if tick.UnwatchedFrom = events.At(e.Gap.From); events.At(e.Gap.Until) != c.now || c.unlisted == nil {
			tick.UnwatchedUntil = events.At(e.Gap.Until)
		}
	case e.Fate == ticks.Skipped && !c.Elsewhere:
		tick.Fate = events.TickMerged
	case e.Fate == ticks.Started && run != nil && run.Job != "":
		tick.Job, tick.Name = run.Job, run.Name
		tick.Late, tick.Seen = max(0, run.Created.Sub(run.Due)), max(0, c.firstSeen[run.Job].Sub(run.Due))
	}
	return Entry{Tick: tick, by: &t.by, since: since}
}

// startsAfter returns the Jobs that another controller started for due times later than through, in the order of their
// due times. No entry has them yet.
func (c *CronJob) startsAfter(through events.Time) (all []events.RunSeen) {
	if !c.Elsewhere {
		return nil // what our own controller started is in entries already
	}
	for i := range c.seenRuns {
		if r := c.seenRuns[i]; r.Due > through && !r.Manual {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b events.RunSeen) int { return cmp.Compare(a.Due, b.Due) })
	all = slices.CompactFunc(all, func(a, b events.RunSeen) bool { return a.Due == b.Due })
	newest := through
	if n := len(all); n > 0 {
		newest = all[n-1].Due
	}
	if c.Seen != nil && c.Seen.LastSchedule > newest && c.isInstant(c.Seen.LastSchedule) {
		// For this start, status.lastScheduleTime is the only evidence.
		all = append(all, events.RunSeen{Due: c.Seen.LastSchedule})
	}
	return all
}

// isInstant reports whether an instant is a due time by one of the schedules in c.timings.
func (c *CronJob) isInstant(at events.Time) bool {
	return slices.ContainsFunc(c.timings, func(t timing) bool {
		s, err := c.of(&t.by)
		v := ticks.View{Schedule: s, None: err != nil}
		return v.Has(at.Go())
	})
}

// All returns the entries (outcomes of due times) that records tell, and those that are computed (Untold).
func (c *CronJob) All() []Entry { return slices.Concat(c.Entries, c.Untold()) }

// EndBy sets the end of a CronJob whose deletion no record tells: it is deleted by next, when the next CronJob with its
// name was created.
func (c *CronJob) EndBy(next events.Time) {
	if c.Gone == 0 && next != 0 {
		c.Gone, c.EndUnseen, c.missed, c.untold = next, true, true, nil
		c.gaps = append(c.gaps, ticks.Gap{From: c.lastAt.Go(), Until: next.Go()})
	}
}

// Unstarted returns the due times that have passed and are not decided, as one Entry; nil for none. Only the last of
// them may still start.
func (c *CronJob) Unstarted() *Entry {
	all := c.Untold()
	if n := len(all); n > 0 && all[n-1].Fate == 0 {
		return &all[n-1]
	}
	return nil
}

// findGaps finds the times in which nobody watched the cluster, up to record through, and puts them into c.gaps. A
// listing that is still running is one. It reads the others only if a listing showed a change that no watch had
// reported.
func (c *CronJob) findGaps(ctx context.Context, src history.Source, through events.Sequence) error {
	by := c.ledger()
	if c.unlisted != nil {
		c.gaps = append(c.gaps, ticks.Gap{From: c.unlisted.LastSeen.Go(), Until: c.now.Go()})
	}
	found := c.missed || slices.ContainsFunc(c.timings, func(t timing) bool { return t.found })
	if by == nil || by.Closed || c.partial || !found {
		return nil
	}
	gaps, err := history.AllGaps(ctx, src)
	if err != nil && !src.Beside(err) {
		return err
	}
	open := c.gaps
	c.gaps = nil
	for _, g := range gaps {
		if g.Until != 0 && (through == 0 || events.Sequence(g.Synced) <= through) {
			c.gaps = append(c.gaps, ticks.Gap{From: events.Time(g.From).Go(), Until: events.Time(g.Until).Go()})
		}
	}
	c.gaps = append(c.gaps, open...) // last, because the order is that of time
	return nil
}
