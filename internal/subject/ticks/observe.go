package ticks

import (
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// Lag is for how long a create that another controller has sent may still make its Job, and until the Job is seen: the
// API server works on a request for a minute at most.
const Lag = 70 * time.Second

// Gap is a time in which nobody watched. From is zero when nobody had before.
type Gap struct{ From, Until time.Time }

// View is what is known of a CronJob that another controller runs.
type View struct {
	Schedule schedule.Schedule
	None     bool      // the schedule cannot be read: there are no instants but those that were started
	Anchor   time.Time // what @every counts from
	Gaps     []Gap     // in order
}

// See gives an instant that another controller has started its fate, after those before it. That one acts on the latest
// instant alone (C-081), so those before it were not started, or it is not known. An instant that had its fate is
// Again.
func (l *Ledger) See(v *View, started time.Time) (entries []Entry) {
	if !started.After(l.Through) {
		return []Entry{{First: started, Last: started, Fate: Again}}
	}
	entries = l.passOver(v, started.Add(-time.Nanosecond), started)
	return append(entries, l.close(started, started, Started))
}

// Unstarted are the first and the last instant through a time that have no fate; zero for none. Only the last may still
// start.
func (l *Ledger) Unstarted(v *View, now time.Time) (first, last time.Time) {
	if last = v.last(l.Through, now); last.IsZero() {
		return last, last
	}
	return v.Next(l.Through), last
}

// PassOver gives all instants through end their fates but the latest of them, which may yet start.
func (l *Ledger) PassOver(v *View, end time.Time) []Entry {
	last := v.last(l.Through, end)
	if last.IsZero() {
		return nil
	}
	return l.passOver(v, last.Add(-time.Nanosecond), time.Time{})
}

// Drop gives all instants through end their fates. That is the given one for the latest, which was open till then.
func (l *Ledger) Drop(v *View, end time.Time, fate Fate) []Entry {
	entries := l.PassOver(v, end)
	if last := v.last(l.Through, end); !last.IsZero() {
		at := len(entries)
		if entries = append(entries, l.passOver(v, last, time.Time{})...); entries[at].Fate == Skipped {
			entries[at].Fate = fate
		}
	}
	if end.After(l.Through) {
		l.Through = end
	}
	return entries
}

// passOver gives the instants through end their fates: none of them was seen to start.
func (l *Ledger) passOver(v *View, end, into time.Time) (entries []Entry) {
	say := func(through time.Time, fate Fate, gap Gap) {
		if last := v.last(l.Through, through); !last.IsZero() {
			e := l.close(v.Next(l.Through), last, fate)
			if e.Gap = gap; fate == Skipped {
				e.Into = into
			}
			entries = append(entries, e)
		}
	}
	for _, g := range v.Gaps {
		first := v.reached(l.Through, g.From)
		if first.IsZero() || first.After(end) || first.After(g.Until) {
			continue
		}
		say(first.Add(-time.Nanosecond), Skipped, Gap{})
		until := g.Until
		if until.After(end) {
			until = end
		}
		say(until, Unknown, g)
	}
	say(end, Skipped, Gap{})
	return entries
}

// reached is the first instant after from that may have been started at a time or later: the one before that time,
// unless the next one was due, and a create for it was over, by then.
func (v *View) reached(from, at time.Time) time.Time {
	if last := v.last(from, at.Add(-Lag)); !last.IsZero() {
		return last
	}
	return v.Next(from)
}

// Has reports whether an instant is one of the schedule.
func (v *View) Has(instant time.Time) bool {
	return !v.None && (v.Schedule.Every() || v.Schedule.Next(instant.Add(-time.Second)).Equal(instant))
}

// Next is the first instant after from; zero for none.
func (v *View) Next(from time.Time) time.Time {
	if v.None {
		return time.Time{}
	}
	return v.Schedule.Next(v.Schedule.Base(v.Anchor, from))
}

// last is the latest instant after from and through to; zero for none.
func (v *View) last(from, to time.Time) time.Time {
	if v.None || !to.After(from) {
		return time.Time{}
	}
	return v.Schedule.Last(v.Schedule.Base(v.Anchor, from), to)
}
