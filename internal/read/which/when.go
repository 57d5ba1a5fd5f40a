package which

import (
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// When is a time as a user writes it: an instant, a duration before now, or a time of day such as 15:04. The end of the
// log decides on which day a time of day is (see Before). The zero When means no time.
type When struct {
	moment events.Time
	ago    func(now time.Time) time.Time
	clock  *time.Time // time of day and time zone; the date does not count
}

// OfDay reports whether w is a time of day, and returns its zone. The caller must then know the end of the log, to find
// the day.
func (w When) OfDay() (zone words.Zone, is bool) {
	if w.clock == nil {
		return words.Zone{}, false
	}
	return words.Zone{Location: w.clock.Location()}, true
}

// Ago reports whether w is a duration before now.
func (w When) Ago() bool { return w.ago != nil }

// layouts has the formats of times; the value is false for a time of day. At most one format fits a text. A time
// without a zone is in UTC, or with --local in the zone of the machine.
var layouts = map[string]bool{
	"2006-01-02T15:04:05.999999999Z07:00": true, "2006-01-02 15:04:05.999999999Z07:00": true,
	"2006-01-02T15:04:05.999999999": true, "2006-01-02 15:04:05.999999999": true,
	"2006-01-02T15:04Z07:00": true, "2006-01-02 15:04Z07:00": true, "2006-01-02T15:04": true, "2006-01-02 15:04": true,
	"2006-01-02":               true,
	"15:04:05.999999999Z07:00": false, "15:04:05.999999999": false, "15:04Z07:00": false, "15:04": false,
}

// ParseWhen parses a time that a user wrote. zone is the time zone for a time that names none. ok is false if text is
// not a time.
func ParseWhen(text string, zone words.Zone) (w When, ok bool) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return When{ago: func(now time.Time) time.Time { return now.Add(-d) }}, true
	}
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return When{ago: func(now time.Time) time.Time { return now.AddDate(0, 0, -int(n)) }}, true
		}
	}
	in := time.UTC
	if zone.Location != nil {
		in = zone.Location
	}
	for layout, dated := range layouts {
		t, err := time.ParseInLocation(layout, text, in)
		switch moment := events.At(t); {
		case err != nil:
		case !dated:
			return When{clock: &t}, true
		// If the user gave the first instant of 1970, or the year 1, moment is 0, which means no time: use the next
		// instant.
		case moment == 0:
			return When{moment: events.At(t.Add(1))}, true
		default:
			return When{moment: moment}, true
		}
	}
	return w, false
}

// Beyond reports whether a time is too early or too late for any log. Such a time can bound a question (--since), but
// not be the time of an answer (--at).
func Beyond(t events.Time) bool { return t <= events.FirstTime || t >= events.LastTime }

// A time of day that is this close to now is today's, even if the log covers only yesterday's: the user reads it off a
// clock. For example at 23:07, "23:06" means one minute ago, even if the log ends at 22:45. The future is allowed
// because clocks differ.
const (
	nearPast   = time.Hour
	nearFuture = 10 * time.Minute
)

// Point returns the instant that w means, for a question about one instant. It differs from Before for a time of day up
// to 10 minutes in the future: it is today's, because clocks differ.
func (w When) Point(now time.Time, end events.Time) events.Time {
	if w.clock != nil {
		at := events.At(now)
		if t := w.nearest(at); t > at && t <= at.Add(nearFuture) && end.Add(24*time.Hour) > t {
			return t
		}
	}
	return w.Before(now, end)
}

// nearest returns the instant with the time of day of w that is nearest to at: on the same day, the day before, or the
// day after.
func (w When) nearest(at events.Time) events.Time {
	best := w.on(at, 0)
	for _, days := range []int{-1, 1} {
		if t := w.on(at, days); max(t.Sub(at), at.Sub(t)) < max(best.Sub(at), at.Sub(best)) {
			best = t
		}
	}
	return best
}

// Before returns the instant that w means, asked at time now, in a log that ends at end. A time of day within the last
// hour is today's. Any other is the last one before the end of the log; but if the log ends today, a time of day
// between its end and now is today's.
func (w When) Before(now time.Time, end events.Time) events.Time {
	switch {
	case w.ago != nil:
		return events.At(w.ago(now))
	case w.clock == nil:
		return w.moment
	}
	at := events.At(now)
	if end == 0 {
		end = at
	}
	if t := w.nearest(at); t <= at && t.Add(nearPast) > at && end.Add(24*time.Hour) > t {
		return t
	}
	t := w.on(end, 0)
	today := (words.Zone{Location: w.clock.Location()}).SameDay(end, at)
	if t > end && !(today && t <= at) {
		t = w.on(end, -1)
	}
	return t
}

// Behind returns the instant that w means as the end of a time span that starts at begin. A time of day is the first
// one after begin.
func (w When) Behind(begin events.Time, now time.Time, end events.Time) events.Time {
	if w.clock == nil || begin == 0 {
		return w.Before(now, end)
	}
	t := w.on(begin, 0)
	if t < begin {
		t = w.on(begin, 1)
	}
	return t
}

// on returns the instant with the time of day of w on the day of t; days moves it by a number of days.
func (w When) on(t events.Time, days int) events.Time {
	c := *w.clock
	day := t.Go().In(c.Location())
	return events.At(time.Date(day.Year(), day.Month(), day.Day()+days, c.Hour(), c.Minute(), c.Second(),
		c.Nanosecond(), c.Location()))
}
