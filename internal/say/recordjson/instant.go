package recordjson

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// Stamp returns a time as text for programs: UTC, RFC 3339 with nanoseconds; empty for the time 0.
func Stamp(t events.Time) string {
	if t == 0 {
		return ""
	}
	return t.Go().Format(time.RFC3339Nano)
}

// Instant is a time that is RFC 3339 with nanoseconds in JSON (Stamp). In a field with omitzero, the time 0 is absent.
type Instant events.Time

// MarshalText returns the time as RFC 3339 with nanoseconds.
func (t Instant) MarshalText() ([]byte, error) { return []byte(Stamp(events.Time(t))), nil }

// UnmarshalText parses a time that MarshalText wrote. An empty text is the time 0.
func (t *Instant) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = 0
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	*t = Instant(events.At(at))
	return err
}
