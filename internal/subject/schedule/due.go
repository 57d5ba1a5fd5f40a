package schedule

import (
	"errors"
	"math"
	"time"
)

// Missed is how many instants are behind the one that is due, as the built-in controller estimates it.
type Missed uint8

// The classes (C-074 to C-078).
const (
	MissedNone Missed = iota
	MissedFew
	MissedMany // more than 100
)

// manyMissed is the number beyond which they are many (C-078).
const manyMissed = 100

// wakePadding is added to the time at which a CronJob is looked at again (C-086).
const wakePadding = 100 * time.Millisecond

// ErrInterval: the schedule has no two instants that are a second apart. Schedules that never match end so (C-079).
var ErrInterval = errors.New("time difference between two schedules is less than 1 second")

// Due is which instant is to be acted on.
type Due struct {
	At     time.Time // zero for none
	Missed Missed
	Count  int64 // estimated number of instants from the first after the anchor through now; 0 when nothing or one is due
}

// Lost reports whether instants have passed and none of them is due: the built-in's estimate missed them (C-080).
func (d Due) Lost() bool { return d.At.IsZero() && d.Missed != MissedNone }

// Due finds the latest instant after the anchor and through now as the built-in controller does: it assumes that
// instants are evenly apart, so with those that are not it may find none (C-073 to C-080).
func (s Schedule) Due(anchor, now time.Time) (Due, error) {
	if longest := now.Add(-math.MaxInt64); anchor.Before(longest) { // 292 years: the estimate below would begin far back, and look at each instant since
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
			break // never again: upstream would not return
		}
		d.At = t
	}
	return d, nil
}

// Anchor moves the anchor of the start decision to the earliest instant that may still start (C-072). deadline is
// spec.startingDeadlineSeconds; nil for unset.
func Anchor(anchor, now time.Time, deadline *int64) time.Time {
	if deadline == nil || *deadline > math.MaxInt64/int64(time.Second) {
		return anchor
	}
	if earliest := now.Add(-time.Second * time.Duration(*deadline)); earliest.After(anchor) {
		return earliest
	}
	return anchor
}

// Wake is when to look again; the zero time for never. The anchor is that of Due without a deadline (C-085, C-088).
func (s Schedule) Wake(anchor, now time.Time) time.Time {
	d, err := s.Due(anchor, now)
	return s.WakeAfter(anchor, now, d, err)
}

// WakeAfter is Wake of who knows already what Due says.
func (s Schedule) WakeAfter(anchor, now time.Time, d Due, err error) time.Time {
	return wakeFor(s.Next(counted(anchor, now, d, err)))
}

// Counted is the instant from which those after now are counted (C-085): the one that is due, else the anchor. The
// instants of one schedule may depend on that. Example: in Australia/Lord_Howe, which is put back by half an hour on 5
// April 2026, "20 4,5,6 * * *" is due at 05:20 after an instant of the day before, and at 04:20 after 02:10 of that
// day.
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

// WakeFrom is when to look again when nothing starts for an instant before that time.
func (s Schedule) WakeFrom(anchor, from time.Time) time.Time {
	return wakeFor(s.Next(s.Base(anchor, from.Add(-time.Nanosecond))))
}

// wakeFor is when to look at an instant; the zero time for none.
func wakeFor(instant time.Time) time.Time {
	if instant.IsZero() {
		return instant
	}
	return instant.Add(wakePadding)
}
