package ticks

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// Ledger knows through which instant each due time has its fate, and the one that is open.
type Ledger struct {
	Through time.Time // every instant until then has its fate
	Open    time.Time // after Through; zero for none
	Hold    Hold      // what holds the open one back
}

// Look is what is known of a CronJob at a time.
type Look struct {
	Now      time.Time
	Schedule schedule.Schedule
	Anchor   time.Time // status.lastScheduleTime, else the creation (C-071)
	Deadline *int64    // spec.startingDeadlineSeconds
	Gaps     []Gap     // in which no controller watched, in order
	Hold     Hold
	Paced    bool // several due times may pass between two looks though somebody watches: a deadline is asked of each of them
}

// Begin is the ledger of a CronJob whose instants until then are of no concern: they were before it was made, or before
// it was known.
func Begin(through time.Time) Ledger { return Ledger{Through: through} }

// Look gives the instants that have passed since the last look their fates, all but the one that is due now: that one
// is open. held reports whether the open instant, or what holds it back, is another one than before: a record says so,
// once.
//
// What is due is found as the built-in controller finds it. The schedule has to be the one of the last look; after an
// edit comes [Ledger.Replace]. The anchor is not after Through: a start is told before the look that has it as its
// anchor.
func (l *Ledger) Look(k *Look) (entries []Entry, held bool) {
	last := k.last(l.Through, k.Now)
	if last.IsZero() {
		return nil, false
	}
	due, err := k.Schedule.Due(schedule.Anchor(k.Anchor, k.Now, k.Deadline), k.Now)
	if k.Schedule.Every() && due.At.After(l.Through) {
		last = due.At // a deadline moves the instants of such a schedule (C-084)
	}
	was := *l
	entries = l.overtaken(k, last)
	switch {
	case k.late(last, k.Now):
		fate := TooLate
		if k.lapsed(last) {
			fate = Unwatched
		}
		return append(entries, l.close(last, last, fate)), false
	case err != nil || due.At.IsZero():
		for i := range entries { // none runs for them
			if entries[i].Fate == Merged {
				entries[i].Fate, entries[i].Into = Lost, time.Time{}
			}
		}
		return append(entries, l.close(last, last, Lost)), false
	}
	l.Open, l.Hold = last, k.Hold
	return entries, l.Open != was.Open || l.Hold != was.Hold
}

// Passed gives the instants through the anchor their fates when somebody has set status.lastScheduleTime to no instant
// of the schedule: none of them starts any more. It is asked when the anchor is after Through, before Look. That
// another controller has started the instant of the anchor is told before (See).
func (l *Ledger) Passed(k *Look) (entries []Entry) {
	if last := k.last(l.Through, k.Anchor); !last.IsZero() {
		entries = append(l.overtaken(k, last), l.close(last, last, Skipped))
	}
	for i := range entries {
		if entries[i].Fate == Merged {
			entries[i].Fate, entries[i].Into = Skipped, time.Time{}
		}
	}
	l.Through, l.Open, l.Hold = k.Anchor, time.Time{}, NotHeld
	return entries
}

// overtaken closes the instants before the last one that is due.
func (l *Ledger) overtaken(k *Look, last time.Time) (entries []Entry) {
	if open := l.Open; !open.IsZero() && open.Before(last) {
		fate := Merged
		if next := k.Schedule.Next(open); k.late(open, next) {
			fate = TooLate
		}
		entries = append(entries, l.close(open, open, fate))
	}
	pass := func(end time.Time, fate Fate) { // those before end and before last
		if end.After(last) {
			end = last
		}
		end = end.Add(-time.Nanosecond)
		if first := k.Schedule.Next(k.base(l.Through)); !first.IsZero() && !first.After(end) {
			if fate == Merged && k.Paced && k.Schedule.Every() && k.late(first, k.Schedule.Next(first)) {
				fate = TooLate // and so are the others: they are evenly apart
			}
			entries = append(entries, l.close(first, k.last(l.Through, end), fate))
		}
	}
	for _, g := range k.Gaps {
		if g.Until.After(l.Through) && g.From.Before(last) {
			pass(g.From, Merged)
			pass(g.Until, Unwatched)
		}
	}
	pass(last, Merged)
	for i := range entries {
		if entries[i].Fate == Merged {
			entries[i].Into = last
		}
	}
	return entries
}

// lapsed reports whether the deadline of an instant that nobody watched was over when somebody watched again.
func (k *Look) lapsed(instant time.Time) bool {
	return slices.ContainsFunc(k.Gaps, func(g Gap) bool { return !instant.Before(g.From) && k.late(instant, g.Until) })
}

// base is the instant from which the due times after through are counted.
func (k *Look) base(through time.Time) time.Time { return k.Schedule.Base(k.Anchor, through) }

// last is the latest due time after through and until then; zero for none.
func (k *Look) last(through, until time.Time) time.Time {
	return k.Schedule.Last(k.base(through), until)
}

// late reports whether an instant may not start any more at a time: at the very end of its deadline it is too late
// (C-083).
func (k *Look) late(instant, at time.Time) bool {
	if k.Deadline == nil || at.Before(instant) {
		return false
	}
	return !schedule.Anchor(time.Time{}, at, k.Deadline).Before(instant)
}

// Start is the fate of the open instant when its Job was made.
func (l *Ledger) Start(now time.Time) (Entry, bool) {
	if l.Open.IsZero() {
		return Entry{}, false
	}
	e := l.close(l.Open, l.Open, Started)
	e.Late = now.Sub(e.First)
	return e, true
}

// End is another fate of the open instant: refused for good, or the CronJob is gone.
func (l *Ledger) End(fate Fate) (Entry, bool) {
	if l.Open.IsZero() {
		return Entry{}, false
	}
	return l.close(l.Open, l.Open, fate), true
}

// Revive is the entry of an instant that starts although it has its fate already, or is of before the newest change of
// the schedule.
func (l *Ledger) Revive(instant, now time.Time) Entry {
	return Entry{First: instant, Last: instant, Fate: Again, Late: now.Sub(instant)}
}

// Replace begins with another schedule. The open instant is one of the schedule of before; those of the new one count
// from now on.
func (l *Ledger) Replace(now time.Time) (Entry, bool) {
	e, was := l.End(Replaced)
	if now.After(l.Through) {
		l.Through = now
	}
	return e, was
}

// close gives instants their fate.
func (l *Ledger) close(first, last time.Time, fate Fate) Entry {
	l.Through, l.Open, l.Hold = last, time.Time{}, NotHeld
	return Entry{First: first, Last: last, Fate: fate}
}
