package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a schedule in its zone.
type Schedule struct {
	when   cron.Schedule
	onDays bool // not all days match
}

// Parse reads a schedule. The zone is that of spec.timeZone as Locate found it; nil when it is unset, and then the
// process's zone holds, which is UTC. A schedule that names a zone itself is read in that one (C-034, C-041).
func Parse(text string, zone *time.Location, zones Zones) (s Schedule, err error) {
	rest, named, has, err := prefixed(text)
	switch {
	case err != nil:
		return Schedule{}, err
	case has:
		if zone, err = Locate(named, zones); err != nil {
			return Schedule{}, fmt.Errorf("provided bad location %s: %w", named, err)
		}
	case NamesZone(text):
		zone = nil // the text holds as it is (C-041)
	case zone != nil:
		rest, has = strings.TrimSpace(text), true // the built-in puts the zone before it, so white space is no matter
	}
	if has {
		rest = "TZ=UTC " + rest // the parser reads what follows a zone in another way than what follows none; UTC it need not load
	}
	when, err := parse(rest)
	if err != nil {
		return Schedule{}, err
	}
	if zone == nil {
		zone = time.UTC
	}
	onDays := false
	if clock, ok := when.(*cron.SpecSchedule); ok {
		clock.Location = zone
		onDays = clock.Dom&allDays != allDays || clock.Dow&allWeekdays != allWeekdays
	}
	return Schedule{when, onDays}, nil
}

// The library's sets of all days of a month and of a week.
const (
	allDays     = 1<<32 - 1<<1
	allWeekdays = 1<<7 - 1
)

// parse is the library's parser. Its panics are errors, in the words of the API server (C-021).
func parse(text string) (when cron.Schedule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("invalid schedule format: %v", p)
		}
	}()
	return cron.ParseStandard(text)
}

// errNoSpace is what the API server says of a zone without a schedule behind it, on which the library panics.
var errNoSpace = errors.New("invalid schedule format: runtime error: slice bounds out of range [:-1]")

// prefixed splits a leading TZ= or CRON_TZ= off.
func prefixed(text string) (rest, zone string, has bool, err error) {
	if !strings.HasPrefix(text, "TZ=") && !strings.HasPrefix(text, "CRON_TZ=") {
		return text, "", false, nil
	}
	_, after, _ := strings.Cut(text, "=")
	zone, rest, has = strings.Cut(after, " ")
	if !has {
		return "", "", false, errNoSpace
	}
	return strings.TrimSpace(rest), zone, true, nil
}

// NamesZone reports whether the text may name a zone itself: then spec.timeZone has no say in the timing (C-041).
func NamesZone(text string) bool { return strings.Contains(text, "TZ") }

// Next is the first instant after t; the zero time for never: none in the five years after t (C-060 to C-062).
//
// Where a clock was put back in the middle of an hour, the library may answer an instant that is not after t: whoever
// steps from instant to instant never gets past it. Then the next one that is after t counts.
//
// Where a zone skipped a day (Samoa in 2011), the library goes round for ever at that day when it looks for a day that
// matches. No CronJob is as old: what is asked for an instant before 2012 is answered for the beginning of that year
// then.
func (s Schedule) Next(t time.Time) time.Time {
	if s.onDays && t.Before(oldest) {
		t = oldest.Add(-time.Second)
	}
	for from, end := t, t.Add(maxBack); !from.After(end); from = from.Add(time.Minute) {
		if next := s.when.Next(s.lastSecond(from)); next.IsZero() || next.After(t) {
			return next.UTC()
		}
	}
	return time.Time{}
}

// oldest is before the first CronJob, and after the last day that a zone skipped.
var oldest = time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)

// lastSecond is the last second of the minute: there is no instant after t until then, and the library looks at each of
// its seconds. Where the clock may change at the end of the minute it is t. All offsets are quarters of an hour by now.
func (s Schedule) lastSecond(t time.Time) time.Time {
	unix := t.Unix()
	if unix/60%15 == 14 || s.Every() {
		return t
	}
	return time.Unix(unix-unix%60+59, 0).In(t.Location())
}

// maxBack is longer than any clock is put back.
const maxBack = 25 * time.Hour

// Every reports whether the schedule counts from the instant before, and has no instants of its own (C-033).
func (s Schedule) Every() bool {
	_, every := s.when.(cron.ConstantDelaySchedule)
	return every
}

// Base is the instant from which those after through are counted: through itself, but for @every, which counts from its
// anchor (C-033).
func (s Schedule) Base(anchor, through time.Time) time.Time {
	if !s.Every() || through.Before(anchor) {
		return through
	}
	first := s.Next(anchor)
	gap := s.Next(first).Sub(first)
	return through.Add(-(through.Sub(first.Add(-gap)) % gap))
}

// Between yields the instants after from and through to, in order.
func (s Schedule) Between(from, to time.Time) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for t := s.Next(from); !t.IsZero() && !t.After(to) && yield(t); t = s.Next(t) {
		}
	}
}

// Last is the latest instant after from and through to; the zero time for none. It does not visit all of them: it looks
// at the end of the time between first.
func (s Schedule) Last(from, to time.Time) (last time.Time) {
	first := s.Next(from)
	if first.IsZero() || first.After(to) {
		return time.Time{}
	}
	if s.Every() { // its instants count from the one before
		gap := s.Next(first).Sub(first)
		return to.Add(-(to.Sub(first) % gap))
	}
	for back := 2 * time.Minute; ; back *= 2 {
		after := to.Add(-back)
		if after.Before(from) {
			after = from
		}
		for t := range s.Between(after, to) {
			last = t
		}
		if !last.IsZero() || !after.After(from) {
			return last
		}
	}
}
