package ticks

import (
	"slices"
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// Ledger holds how far the due times of a CronJob have a recorded fate (what became of them), and the open due time,
// which may still start.
type Ledger struct {
	Through time.Time // all due times up to it have fates
	Open    time.Time // due time after Through that may still start; zero for none
	Hold    Hold      // why Open does not start now
}

// Look is the input of the method Ledger.Look: what is known of a CronJob at time Now.
type Look struct {
	Now      time.Time
	Schedule schedule.Schedule
	Anchor   time.Time // status.lastScheduleTime, else the creation time (C-071)
	Deadline *int64    // spec.startingDeadlineSeconds
	Gaps     []Gap     // times without a watching controller, in order
	Hold     Hold
	Paced    bool // not every due time is evaluated, so the deadline is checked for each (@every)
}

// Begin returns a ledger that ignores due times up to through, for example from before the CronJob's creation.
func Begin(through time.Time) Ledger { return Ledger{Through: through} }

// Look decides what became of the due times since the last call, except of the latest one that may still start: that
// one becomes the open one. held reports whether the open due time or its Hold has changed, so that it needs a record.
//
// The open due time is computed as in the built-in controller. The schedule must be that of the last call; after an
// edit call [Ledger.Replace] first. The anchor must not be after Through: if a due time has started, record that start
// (Start) before the Look that has it as anchor.
func (l *Ledger) Look(k *Look) (entries []Entry, held bool) {
	last := k.last(l.Through, k.Now)
	if last.IsZero() {
		return nil, false
	}
	// After an error, due is zero: no due time
	due, _ := k.Schedule.Due(schedule.Anchor(k.Anchor, k.Now, k.Deadline), k.Now)
	if k.Schedule.Every() && due.At.After(l.Through) {
		last = due.At // with a deadline, an @every schedule counts from another time (C-084)
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
	case due.At.IsZero():
		for i := range entries { // as no run follows, none stands for these due times: they are lost, not merged
			if entries[i].Fate == Merged {
				entries[i].Fate, entries[i].Into = Lost, time.Time{}
			}
		}
		return append(entries, l.close(last, last, Lost)), false
	}
	l.Open, l.Hold = last, k.Hold
	return entries, l.Open != was.Open || l.Hold != was.Hold
}

// Passed decides what became of the due times up to the anchor, after status.lastScheduleTime was set by hand to a time
// that is not a due time: none of them starts any more. If the anchor is after Through, call Passed before Look. But if
// another controller has started a due time at the anchor, record that start first (See).
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

// overtaken decides what became of the due times after l.Through and before last: they do not start any more, because
// last, a later due time, has come.
func (l *Ledger) overtaken(k *Look, last time.Time) (entries []Entry) {
	if open := l.Open; !open.IsZero() && open.Before(last) {
		fate := Merged
		if next := k.Schedule.Next(open); k.late(open, next) {
			fate = TooLate
		}
		entries = append(entries, l.close(open, open, fate))
	}
	pass := func(end time.Time, fate Fate) { // gives a fate to the due times before end and before last
		if end.After(last) {
			end = last
		}
		end = end.Add(-time.Nanosecond)
		if first := k.Schedule.Next(k.base(l.Through)); !first.After(end) {
			if fate == Merged && k.Paced && k.Schedule.Every() && k.late(first, k.Schedule.Next(first)) {
				fate = TooLate // all of them are too late, because the intervals are equal
			}
			entries = append(entries, l.close(first, k.last(l.Through, end), fate))
		}
	}
	for _, g := range k.Gaps {
		if g.Until.After(l.Through) {
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

// lapsed reports whether nobody watched when the due time came, and its deadline had passed when somebody watched
// again.
func (k *Look) lapsed(instant time.Time) bool {
	return slices.ContainsFunc(k.Gaps, func(g Gap) bool { return !instant.Before(g.From) && k.late(instant, g.Until) })
}

// base returns the time to pass to Schedule.Next for the due times after through.
func (k *Look) base(through time.Time) time.Time { return k.Schedule.Base(k.Anchor, through) }

// last returns the latest due time after through and up to until; zero for none.
func (k *Look) last(through, until time.Time) time.Time {
	return k.Schedule.Last(k.base(through), until)
}

// late reports whether a due time (instant) may no longer start at time at. At the exact end of its deadline it is too
// late (C-083).
func (k *Look) late(instant, at time.Time) bool {
	return !schedule.Anchor(time.Time{}, at, k.Deadline).Before(instant)
}

// Start records that the open due time has started: its Job was created at now. It returns the ledger entry; false if
// no due time is open.
func (l *Ledger) Start(now time.Time) (Entry, bool) {
	if l.Open.IsZero() {
		return Entry{}, false
	}
	e := l.close(l.Open, l.Open, Started)
	e.Late = now.Sub(e.First)
	return e, true
}

// End records what else than a start became of the open due time. It returns the ledger entry; false if no due time is
// open.
func (l *Ledger) End(fate Fate) (Entry, bool) {
	if l.Open.IsZero() {
		return Entry{}, false
	}
	return l.close(l.Open, l.Open, fate), true
}

// Revive returns the ledger entry for a due time that starts although the ledger says already that it became something
// else, or that is from before the last schedule change.
func (l *Ledger) Revive(instant, now time.Time) Entry {
	return Entry{First: instant, Last: instant, Fate: Again, Late: now.Sub(instant)}
}

// Replace switches to another schedule at now. It closes the open due time of the old schedule and returns its entry;
// false for none. Due times of the new schedule count from now on.
func (l *Ledger) Replace(now time.Time) (Entry, bool) {
	e, was := l.End(Replaced)
	if now.After(l.Through) {
		l.Through = now
	}
	return e, was
}

// close records what became of the due times from first to last, and returns their ledger entry.
func (l *Ledger) close(first, last time.Time, fate Fate) Entry {
	l.Through, l.Open, l.Hold = last, time.Time{}, NotHeld
	return Entry{First: first, Last: last, Fate: fate}
}
