package words

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// Zone is the time zone in which people are shown times. The zero Zone is UTC.
type Zone struct {
	Location *time.Location // nil for UTC
}

// In is a time in the zone.
func (z Zone) In(t events.Time) time.Time {
	if z.Location == nil {
		return t.Go()
	}
	return t.Go().In(z.Location)
}

// Moment writes a time to the millisecond, with its date and zone; "-" for an unset time.
func (z Zone) Moment(t events.Time) string { return z.write(t, "2006-01-02 15:04:05.000Z07:00") }

// Second is Moment to the second.
func (z Zone) Second(t events.Time) string { return z.write(t, "2006-01-02 15:04:05Z07:00") }

// Clock writes the time of day to the millisecond, with its zone.
func (z Zone) Clock(t events.Time) string { return z.write(t, "15:04:05.000Z07:00") }

// ClockSecond is Clock to the second.
func (z Zone) ClockSecond(t events.Time) string { return z.write(t, "15:04:05Z07:00") }

// Stamp is how JSON writes times, but in the zone.
func (z Zone) Stamp(t events.Time) string { return z.write(t, time.RFC3339Nano) }

// Day names the day, and the zone that the times below that heading are in.
func (z Zone) Day(t events.Time) string {
	if z.Location == nil {
		return z.In(t).Format("2006-01-02") + " UTC"
	}
	return z.In(t).Format("2006-01-02, ") + z.Name(t)
}

// Name names the zone, as it is at that time, for a line that has its times without it.
func (z Zone) Name(t events.Time) string {
	if z.Location == nil {
		return "UTC"
	}
	return z.In(t).Format("zone Z07:00")
}

// SameDay reports whether both times are of one day.
func (z Zone) SameDay(a, b events.Time) bool {
	const day = "2006-01-02"
	return z.In(a).Format(day) == z.In(b).Format(day)
}

// bare writes the time of day without its zone, for a text that stands beside the record's own time.
func (z Zone) bare(t events.Time, layout string) string { return z.In(t).Format(layout) }

func (z Zone) write(t events.Time, layout string) string {
	if t == 0 {
		return "-"
	}
	return z.In(t).Format(layout)
}
