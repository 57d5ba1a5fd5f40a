package which

import (
	"strconv"
	"strings"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// When is a time as people write it: a moment, so long ago, or a time of day. A time of day is that of the newest day
// on which the log has it, so it is a moment only when it is known where the log ends. The zero when is none.
type When struct {
	moment events.Time
	ago    func(now time.Time) time.Time
	clock  *time.Time // only its time of day and its zone count
}

// OfDay reports whether it is a time of day, which needs the end of the log to be a moment, and in which zone.
func (w When) OfDay() (zone words.Zone, is bool) {
	if w.clock == nil {
		return words.Zone{}, false
	}
	return words.Zone{Location: w.clock.Location()}, true
}

// Ago reports whether it is so long ago.
func (w When) Ago() bool { return w.ago != nil }

// layouts are the ways in which a moment may be written, and clocks those of a time of day. Without a zone it is in
// that of the times that are shown: UTC, unless --local says otherwise.
var (
	layouts = []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00",
		"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02",
	}
	clocks = []string{"15:04:05.999999999Z07:00", "15:04:05.999999999", "15:04Z07:00", "15:04"}
)

// ParseWhen reads a time; not ok when it is none.
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
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, in); err == nil {
			moment := events.At(t)
			if moment == 0 { // 1970-01-01T00:00:00Z, or 0001-01-01: a time that is given is none that is unset
				moment = events.At(t.Add(1))
			}
			return When{moment: moment}, true
		}
	}
	for _, layout := range clocks {
		if t, err := time.ParseInLocation(layout, text, in); err == nil {
			return When{clock: &t}, true
		}
	}
	return w, false
}

// Beyond reports whether a moment stands for all before or behind it. Such a one bounds what is asked for; it is no
// answer's own time.
func Beyond(t events.Time) bool { return t <= events.FirstTime || t >= events.LastTime }

// How near now a time of day of today lies for nobody to mean that of yesterday, which the log has: who types it looks
// at a clock, and clocks differ. At 23:07 the time 23:06 is a minute ago, also where the log ends at 22:45.
const (
	nearPast   = time.Hour
	nearFuture = 10 * time.Minute
)

// Point is the moment that is meant at that time by a point in the history: before, but for a time of day that is just
// to come.
func (w When) Point(now time.Time, end events.Time) events.Time {
	if w.clock != nil {
		at := events.At(now)
		if t := w.nearest(at); t > at && t <= at.Add(nearFuture) && end.Add(24*time.Hour) > t {
			return t
		}
	}
	return w.Before(now, end)
}

// nearest is the time of day that is nearest to a moment.
func (w When) nearest(at events.Time) events.Time {
	best := w.on(at, 0)
	for _, days := range []int{-1, 1} {
		if t := w.on(at, days); max(t.Sub(at), at.Sub(t)) < max(best.Sub(at), at.Sub(best)) {
			best = t
		}
	}
	return best
}

// Before is the moment that is meant at that time. A time of day is that of today within the last hour, or the last one
// before the end of the log. Where that is of today, a time behind it that has passed is of today, too.
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

// Behind is the moment that is meant when it ends what begins at another. A time of day is the first one from there on.
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

// on is the time of day on the day of a moment, or so many days later.
func (w When) on(t events.Time, days int) events.Time {
	c := *w.clock
	day := t.Go().In(c.Location())
	return events.At(time.Date(day.Year(), day.Month(), day.Day()+days, c.Hour(), c.Minute(), c.Second(), c.Nanosecond(), c.Location()))
}
