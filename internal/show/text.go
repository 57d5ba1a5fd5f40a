package show

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/jobledger/jobledger/events"
)

// Clean makes a text that somebody else wrote safe to print: whatever is not a visible character or a plain space is
// written as Go would write it in a string, and bytes that are not UTF-8 as \x and two digits. So it stays on one line
// and cannot steer a terminal.
func Clean(s string) string {
	if strings.IndexFunc(s, hidden) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x`)
			b.WriteString(strconv.FormatUint(uint64(s[0])|0x100, 16)[1:])
		case hidden(r):
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

// hidden reports whether a terminal could take r for something other than a character that takes place.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

const leastReason = 6 // bytes of a reason that are worth showing

// ClipMiddle shortens a name to width columns by its middle: names tell most by how they begin and end.
func ClipMiddle(s string, width int) string {
	if width <= 0 || columns(s) <= width {
		return s
	}
	end := (width - 1) / 2
	return head(s, max(width-1-end, 0)) + "…" + tail(s, end)
}

// ClipWords cuts a text to width columns between two words, so that no name in it is cut. A first word that is longer
// stays whole. What stands in brackets is a reason, no name: that is cut where it must be.
func ClipWords(s string, width int) string {
	if width <= 0 || columns(s) <= width {
		return s
	}
	fits := head(s, width-1)
	at := strings.LastIndexByte(fits, ' ')
	if strings.HasPrefix(fits[at+1:], "(") && len(fits)-at > leastReason {
		return fits + "…"
	}
	if at <= 0 {
		if at = strings.IndexByte(s, ' '); at < 0 {
			return s
		}
	}
	return strings.TrimRight(s[:at], " ") + " …"
}

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

// Moment writes a time for people: to the millisecond, with its date and zone; "-" for an unset time.
func Moment(t events.Time) string {
	if t == 0 {
		return "-"
	}
	return t.Go().Format("2006-01-02 15:04:05.000Z")
}

// Span writes a duration for people, no finer than they can use.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Span(-d)
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
	case d < 48*time.Hour:
		return strings.TrimSuffix(strings.TrimSuffix(d.Round(time.Minute).String(), "0s"), "0m")
	}
	return strconv.Itoa(int(d/(24*time.Hour))) + "d"
}

// count writes a number of things: "1 pod", "3 pods".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
