package schedule

import (
	"time"

	"github.com/robfig/cron/v3"
)

// apartWithin is how far ahead Apart compares time zone rules: today's rules say nothing certain about later years.
const apartWithin = 10 * 365 * 24 * time.Hour

// Apart returns the first time, from the time from on, at which two versions of a schedule's zone show different
// clocks. It returns the zero time if they agree for ten years.
func Apart(a, b Schedule, from time.Time) time.Time {
	x, y := a.clock(), b.clock()
	if x == nil || y == nil {
		return time.Time{} // @every is independent of the zone (C-048)
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
			} else if !change.IsZero() && !change.After(at) {
				// On the last day of a leap year package time may return a past change: go on a day later
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

// Moved describes how the next due times of a schedule change if the rules of its time zone change.
type Moved struct {
	Count   int       // number of due times under the old rules that are not due under the new ones
	Was, Is time.Time // the first due time that differs, under the old rules and under the new ones; zero for never
}

// Compare compares the next n due times after a time. before and now are the same schedule, under the old and the new
// rules of its time zone.
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
