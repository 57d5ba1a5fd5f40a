package ticks

import (
	"time"

	"github.com/jobledger/jobledger/internal/subject/schedule"
)

// Lag is the longest delay between a create by another controller and the watch event of its Job: the API server works
// on a request for at most 60 s, and 10 s are added.
const Lag = 70 * time.Second

// Gap is a time in which no controller watched. From is zero if none watched before.
type Gap struct{ From, Until time.Time }

// View holds what the ledger needs to know of a CronJob that another controller runs, to compute its due times.
type View struct {
	Schedule schedule.Schedule
	None     bool      // the schedule is unreadable: only started due times exist
	Anchor   time.Time // time from which @every counts
	Gaps     []Gap     // times without a watching controller, in order
}

// See records that another controller started the due time started. Before that it records what became of all earlier
// due times: that controller starts only the latest due time (C-081), so the earlier ones were not started, or it is
// unknown whether they were. If something is recorded of started already, its entry is Again.
func (l *Ledger) See(v *View, started time.Time) (entries []Entry) {
	if !started.After(l.Through) {
		return []Entry{{First: started, Last: started, Fate: Again}}
	}
	entries = l.passOver(v, started.Add(-time.Nanosecond), started)
	return append(entries, l.close(started, started, Started))
}

// Unstarted returns the first and the last due time up to now of which the ledger says nothing yet; zero for none. Only
// the last may still start.
func (l *Ledger) Unstarted(v *View, now time.Time) (first, last time.Time) {
	if last = v.last(l.Through, now); last.IsZero() {
		return last, last
	}
	return v.Next(l.Through), last
}

// PassOver records what became of all due times up to end, except of the latest one, which may still start.
func (l *Ledger) PassOver(v *View, end time.Time) []Entry {
	return l.passOver(v, v.last(l.Through, end).Add(-time.Nanosecond), time.Time{})
}

// Drop records what became of all due times up to end. The latest one, which may still have started, gets fate.
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

// passOver records what became of the due times up to end, none of which was seen to start: Unknown if nobody watched
// when one may have started, else Skipped. into is the later due time that started; zero for none.
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
		if first.After(end) {
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

// reached returns the first due time after from that the other controller may have started at time at or later. That is
// the latest one up to Lag before at, because that controller starts only the latest one, and a create takes at most
// Lag. If there is none, it is the first one after from.
func (v *View) reached(from, at time.Time) time.Time {
	if last := v.last(from, at.Add(-Lag)); !last.IsZero() {
		return last
	}
	return v.Next(from)
}

// Has reports whether instant is a due time. For @every it always returns true.
func (v *View) Has(instant time.Time) bool {
	return !v.None && (v.Schedule.Every() || v.Schedule.Next(instant.Add(-time.Second)).Equal(instant))
}

// Next returns the first due time after from; zero for none.
func (v *View) Next(from time.Time) time.Time {
	if v.None {
		return time.Time{}
	}
	return v.Schedule.Next(v.Schedule.Base(v.Anchor, from))
}

// last returns the latest due time after from and up to to; zero for none.
func (v *View) last(from, to time.Time) time.Time {
	if v.None || !to.After(from) {
		return time.Time{}
	}
	return v.Schedule.Last(v.Schedule.Base(v.Anchor, from), to)
}
