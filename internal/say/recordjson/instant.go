package recordjson

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// Stamp returns a time for programs: RFC 3339 with nanoseconds, UTC; empty for an unset time.
func Stamp(t events.Time) string {
	if t == 0 {
		return ""
	}
	return t.Go().Format(time.RFC3339Nano)
}

// Instant is a time in JSON, in the format of Stamp. With omitzero, an unset time is absent.
type Instant events.Time

// MarshalText returns the time in the format of Stamp.
func (t Instant) MarshalText() ([]byte, error) { return []byte(Stamp(events.Time(t))), nil }

// UnmarshalText parses the result of MarshalText.
func (t *Instant) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = 0
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	*t = Instant(events.At(at))
	return err
}
