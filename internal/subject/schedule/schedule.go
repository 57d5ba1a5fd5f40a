package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is a parsed CronJob schedule with its time zone. The zero Schedule, for a text that does not parse, has no
// due time.
type Schedule struct {
	when   cron.Schedule
	onDays bool // true unless the schedule matches every day
}

// Parse parses a schedule. zone is the location of spec.timeZone, from Locate. It is nil if unset: then the process's
// zone counts, which is UTC. A zone named in the schedule itself takes precedence (C-034, C-041).
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
		zone = nil // the text names the zone itself: leave it unchanged (C-041)
	case zone != nil:
		// As the built-in controller puts the zone in front of the text, leading spaces do not count
		rest, has = strings.TrimSpace(text), true
	}
	if has {
		// The parser reads a text with a zone in front differently, so put one in front here, too: UTC, which needs no
		// rules
		rest = "TZ=UTC " + rest
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

// The values of robfig/cron for all days of the month, and for all days of the week.
const (
	allDays     = 1<<32 - 1<<1
	allWeekdays = 1<<7 - 1
)

// parse calls the parser of robfig/cron. It turns panics into errors, in the words of the API server (C-021).
func parse(text string) (when cron.Schedule, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("invalid schedule format: %v", p)
		}
	}()
	return cron.ParseStandard(text)
}

// errNoSpace is the API server's error for a text that has a zone and no schedule: robfig/cron panics there.
var errNoSpace = errors.New("invalid schedule format: runtime error: slice bounds out of range [:-1]")

// prefixed splits off a leading TZ= or CRON_TZ=.
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

// NamesZone reports whether the schedule may name a zone itself. If so, spec.timeZone does not count (C-041).
func NamesZone(text string) bool { return strings.Contains(text, "TZ") }

// Next returns the first due time after t; the zero time if there is none within five years (C-060 to C-062).
//
// If a clock goes back in the middle of an hour, robfig/cron may return a time that is not after t. A loop over due
// times would then never end, so Next returns the next later one.
//
// If a zone skipped a day (Samoa in 2011), robfig/cron loops for ever when it looks for a matching day there. No
// CronJob is that old, so a t before 2012 counts as the start of 2012.
func (s Schedule) Next(t time.Time) time.Time {
	if s.when == nil {
		return time.Time{}
	}
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

// oldest is the earliest time from which Next searches if a schedule names days. Since then no zone has skipped a whole
// day, which would make robfig/cron loop for ever. No CronJob is older.
var oldest = time.Date(2012, 1, 1, 0, 0, 0, 0, time.UTC)

// lastSecond returns the last second of t's minute, to skip seconds that robfig/cron would check one by one: no due
// time is before that second. It returns t if the clock may change at the end of the minute: all current offsets from
// UTC are multiples of 15 minutes.
func (s Schedule) lastSecond(t time.Time) time.Time {
	unix := t.Unix()
	if unix/60%15 == 14 || s.Every() {
		return t
	}
	return time.Unix(unix-unix%60+59, 0).In(t.Location())
}

// maxBack bounds the search of Next for a later time when a clock goes back. No time zone has ever set its clock back
// by as much.
const maxBack = 25 * time.Hour

// Every reports whether the schedule is an @every, whose due times count from the previous one (C-033).
func (s Schedule) Every() bool {
	_, every := s.when.(cron.ConstantDelaySchedule)
	return every
}

// Base returns the time to pass to Next for the due times after through. That is through itself, or for @every the
// latest due time up to through, counted from the anchor (C-033).
func (s Schedule) Base(anchor, through time.Time) time.Time {
	if !s.Every() || through.Before(anchor) {
		return through
	}
	first := s.Next(anchor)
	gap := s.Next(first).Sub(first)
	return through.Add(-(through.Sub(first.Add(-gap)) % gap))
}

// Between yields the due times after from and up to to, in order.
func (s Schedule) Between(from, to time.Time) func(yield func(time.Time) bool) {
	return func(yield func(time.Time) bool) {
		for t := s.Next(from); !t.IsZero() && !t.After(to) && yield(t); t = s.Next(t) {
		}
	}
}

// Last returns the latest due time after from and up to to; zero for none. It searches from the end and does not visit
// each due time.
func (s Schedule) Last(from, to time.Time) (last time.Time) {
	first := s.Next(from)
	if first.IsZero() || first.After(to) {
		return time.Time{}
	}
	if s.Every() { // each due time of @every counts from the previous one
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
