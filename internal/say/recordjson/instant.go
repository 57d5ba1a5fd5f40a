package recordjson

import (
	"time"

	"github.com/jobledger/jobledger/events"
)

// Stamp writes a time for programs: RFC 3339 with nanoseconds, UTC; empty for an unset time.
func Stamp(t events.Time) string {
	if t == 0 {
		return ""
	}
	return t.Go().Format(time.RFC3339Nano)
}

// Instant is a time as it stands in JSON: as Stamp writes it. With omitzero an unset one is left out.
type Instant events.Time

// MarshalText writes the time as Stamp does.
func (t Instant) MarshalText() ([]byte, error) { return []byte(Stamp(events.Time(t))), nil }

// UnmarshalText reads what MarshalText writes.
func (t *Instant) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = 0
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, string(text))
	*t = Instant(events.At(at))
	return err
}
