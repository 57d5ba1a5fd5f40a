package words

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// Zone is the time zone in which texts write times. The zero Zone is UTC.
type Zone struct {
	Location *time.Location // nil for UTC
}

// In returns t in the zone.
func (z Zone) In(t events.Time) time.Time {
	if z.Location == nil {
		return t.Go()
	}
	return t.Go().In(z.Location)
}

// Moment returns a time to the millisecond, with date and zone; "-" for an unset time.
func (z Zone) Moment(t events.Time) string { return z.write(t, "2006-01-02 15:04:05.000Z07:00") }

// Second returns a time to the second, with date and zone; "-" for an unset time.
func (z Zone) Second(t events.Time) string { return z.write(t, "2006-01-02 15:04:05Z07:00") }

// Clock returns the time of day to the millisecond, with the zone.
func (z Zone) Clock(t events.Time) string { return z.write(t, "15:04:05.000Z07:00") }

// ClockSecond returns the time of day to the second, with the zone.
func (z Zone) ClockSecond(t events.Time) string { return z.write(t, "15:04:05Z07:00") }

// Stamp returns a time as JSON has it (RFC 3339 with nanoseconds), in the zone.
func (z Zone) Stamp(t events.Time) string { return z.write(t, time.RFC3339Nano) }

// Day returns the date with the zone, as a heading above times of day.
func (z Zone) Day(t events.Time) string {
	if z.Location == nil {
		return z.In(t).Format("2006-01-02") + " UTC"
	}
	return z.In(t).Format("2006-01-02, ") + z.Name(t)
}

// Name returns the name of the zone at time t, for a line that writes its times without a zone.
func (z Zone) Name(t events.Time) string {
	if z.Location == nil {
		return "UTC"
	}
	return z.In(t).Format("zone Z07:00")
}

// SameDay reports whether a and b are on the same day in the zone.
func (z Zone) SameDay(a, b events.Time) bool {
	const day = "2006-01-02"
	return z.In(a).Format(day) == z.In(b).Format(day)
}

// bare returns a time without its zone. It stands beside the time of the record, which has the zone.
func (z Zone) bare(t events.Time, layout string) string { return z.In(t).Format(layout) }

func (z Zone) write(t events.Time, layout string) string {
	if t == 0 {
		return "-"
	}
	return z.In(t).Format(layout)
}
