package words

import (
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// steps say how a duration is rounded: the first entry for which it is shorter than `below` applies, and it is
// rounded to a multiple of `to`.
var steps = []struct{ below, to time.Duration }{
	{time.Second, time.Millisecond},
	{time.Minute, 100 * time.Millisecond},
	{time.Hour, time.Second},
	{2 * day, time.Minute},
	{10 * day, time.Hour},
	{1<<63 - 1, day},
}

// Span returns a duration for people, rounded to a useful precision: "40ms", "29.3s", "1m20s", "2h30m", "2d23h", "12d".
func Span(d time.Duration) string {
	if d < 0 {
		return "-" + Span(max(-d, 0)) // -d overflows for the smallest duration; max then gives 0
	}
	for _, s := range steps {
		if d < s.below {
			return inParts(d.Round(s.to))
		}
	}
	return inParts(d.Truncate(day))
}

// inParts returns a duration such as "1m20s", without the parts that are zero. From 48 hours on it has days: "2d23h".
func inParts(d time.Duration) string {
	if d < time.Minute {
		return d.String()
	}
	var b strings.Builder
	if d >= 2*day {
		b.WriteString(strconv.Itoa(int(d/day)) + "d")
		d %= day
	}
	for _, part := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if n := d / part.unit; n > 0 {
			b.WriteString(strconv.Itoa(int(n)) + part.name)
			d %= part.unit
		}
	}
	return b.String()
}

// coarse are the units to which Alike rounds, from fine to coarse.
var coarse = []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour}

// Alike returns the duration to which a and b both round: 509ms and 512ms are both about 510ms. The unit is at most a
// tenth of either. are is false if there is no such duration, as for 2.1s and 3.1s.
func Alike(a, b time.Duration) (about time.Duration, are bool) {
	for _, unit := range coarse {
		if about = a.Round(unit); unit <= min(a, b)/10 && about == b.Round(unit) {
			return about, true
		}
	}
	return 0, false
}
