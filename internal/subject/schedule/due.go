package schedule

import (
	"errors"
	"math"
	"time"
)

// Missed says about how many due times before the current one did not start, as the built-in controller estimates it.
type Missed uint8

// The classes of Missed (C-074 to C-078).
const (
	MissedNone Missed = iota
	MissedFew
	MissedMany // more than 100
)

// manyMissed is the number above which the class is MissedMany (C-078).
const manyMissed = 100

// wakePadding is added to the next evaluation of a CronJob, so that the due time has certainly passed then (C-086).
const wakePadding = 100 * time.Millisecond

// ErrInterval is returned if the schedule has no two due times at least a second apart. That includes schedules that
// never match (C-079).
var ErrInterval = errors.New("time difference between two schedules is less than 1 second")

// Due is the due time for which a Job is to be created now.
type Due struct {
	At     time.Time // zero for none
	Missed Missed
	Count  int64 // estimated number of due times after the anchor up to now; 0 if at most one
}

// Lost reports whether due times have passed, and the built-in controller's estimate has found none of them (C-080).
func (d Due) Lost() bool { return d.At.IsZero() && d.Missed != MissedNone }

// Due returns the latest due time after anchor and up to now, as the built-in controller computes it. That computation
// assumes equal intervals, so with unequal ones it may find none (C-073 to C-080). It returns ErrInterval if no two due
// times are at least a second apart.
func (s Schedule) Due(anchor, now time.Time) (Due, error) {
	if longest := now.Add(-math.MaxInt64); anchor.Before(longest) { // 292 years: otherwise the loop is too long
		anchor = longest
	}
	first := s.Next(anchor)
	second := s.Next(first)
	switch {
	case now.Before(first):
		return Due{}, nil
	case now.Before(second):
		return Due{At: first}, nil
	}
	gap := int64(second.Sub(first).Round(time.Second).Seconds())
	if gap < 1 {
		return Due{}, ErrInterval
	}
	d := Due{Missed: MissedFew, Count: int64(now.Sub(first).Seconds())/gap + 1}
	if d.Count > manyMissed {
		d.Missed = MissedMany
	}
	probe := first.Add(time.Duration((d.Count-2)*gap) * time.Second)
	for t := s.Next(probe); !t.After(now); t = s.Next(t) {
		if t.IsZero() {
			break // there is no further due time: upstream would loop for ever here
		}
		d.At = t
	}
	return d, nil
}

// Anchor returns the time after which a due time may still start: the anchor (lastScheduleTime or creation), or now
// less the deadline if that is later (C-072). deadline is spec.startingDeadlineSeconds; nil if unset.
func Anchor(anchor, now time.Time, deadline *int64) time.Time {
	if deadline == nil || *deadline > math.MaxInt64/int64(time.Second) {
		return anchor
	}
	if earliest := now.Add(-time.Second * time.Duration(*deadline)); earliest.After(anchor) {
		return earliest
	}
	return anchor
}

// Wake returns the next time to evaluate the CronJob; zero for never. anchor is lastScheduleTime or the creation time;
// the deadline does not matter here (C-085, C-088).
func (s Schedule) Wake(anchor, now time.Time) time.Time {
	d, err := s.Due(anchor, now)
	return s.WakeAfter(anchor, now, d, err)
}

// WakeAfter returns the next time to evaluate the CronJob, as Wake does, but cheaper: the caller passes d and err, the
// result of Due.
func (s Schedule) WakeAfter(anchor, now time.Time, d Due, err error) time.Time {
	return wakeFor(s.Next(counted(anchor, now, d, err)))
}

// Counted returns the time from which due times after now are counted (C-085): the current due time, or else the
// anchor. The due times of a schedule may depend on that time. Example: in Australia/Lord_Howe the clock goes back by
// half an hour on 5 April 2026. "20 4,5,6 * * *" is due at 05:20 if it counts from a due time of the day before, and at
// 04:20 if it counts from 02:10 of that day.
func (s Schedule) Counted(anchor, now time.Time) time.Time {
	d, err := s.Due(anchor, now)
	return counted(anchor, now, d, err)
}

func counted(anchor, now time.Time, d Due, err error) time.Time {
	switch {
	case err != nil || d.Lost():
		return now
	case !d.At.IsZero():
		return d.At
	}
	return anchor
}

// WakeFrom returns the time of the next evaluation if the due times before from start nothing. anchor is
// lastScheduleTime or the creation time.
func (s Schedule) WakeFrom(anchor, from time.Time) time.Time {
	return wakeFor(s.Next(s.Base(anchor, from.Add(-time.Nanosecond))))
}

// wakeFor returns the time at which to evaluate a due time: a little later, so that it has passed; zero for none.
func wakeFor(instant time.Time) time.Time {
	if instant.IsZero() {
		return instant
	}
	return instant.Add(wakePadding)
}
