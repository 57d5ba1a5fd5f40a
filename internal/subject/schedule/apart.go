package schedule

import (
	"time"

	"github.com/robfig/cron/v3"
)

// apartWithin is how far clocks are compared: rules of today say nothing certain of later years.
const apartWithin = 10 * 365 * 24 * time.Hour

// Apart compares two versions of the rules of a schedule's zone, and says from which instant on their clocks show
// different times; the zero time for never within ten years. It is after the instant it is asked for, or that one.
func Apart(a, b Schedule, from time.Time) time.Time {
	x, y := a.clock(), b.clock()
	if x == nil || y == nil {
		return time.Time{} // @every knows no zone (C-048)
	}
	for at, end := from, from.Add(apartWithin); at.Before(end); {
		s, t := at.In(x.Location), at.In(y.Location)
		_, one := s.Zone()
		_, other := t.Zone()
		if one != other {
			return at.UTC()
		}
		next := end
		for _, shown := range []time.Time{s, t} {
			if _, change := shown.ZoneBounds(); !change.IsZero() && change.After(at) && change.Before(next) {
				next = change
			} else if !change.IsZero() && !change.After(at) { // on the last day of a leap year Go ends a zone where it began
				next = at.Add(24 * time.Hour)
			}
		}
		at = next
	}
	return time.Time{}
}

func (s Schedule) clock() *cron.SpecSchedule {
	clock, _ := s.when.(*cron.SpecSchedule)
	return clock
}

// Moved is how the next due times of a schedule differ under other rules of its zone.
type Moved struct {
	Count   int       // of the due times by the rules of before, those that are none any more
	Was, Is time.Time // the first one that differs, by the rules of before and by these; zero for never
}

// Compare compares the next n due times after an instant under two versions of the rules of a schedule's zone.
func Compare(before, now Schedule, after time.Time, n int) (m Moved) {
	apart := Apart(before, now, after)
	if apart.IsZero() {
		return m
	}
	is := map[time.Time]bool{}
	var was []time.Time
	for a, b := after, after; len(was) < n; {
		a, b = before.Next(a), now.Next(b)
		if a.IsZero() {
			break
		}
		if m.Is.IsZero() && m.Was.IsZero() && !a.Equal(b) {
			m.Was, m.Is = a, b
		}
		is[b] = true
		was = append(was, a)
	}
	for _, a := range was {
		if !is[a] {
			m.Count++
		}
	}
	return m
}
