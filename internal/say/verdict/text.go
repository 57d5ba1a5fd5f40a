package verdict

import (
	"fmt"
	"strconv"
	"time"
)

// span returns a duration in one unit: whole seconds, minutes, hours or days. Times in a status are not more exact.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return "under 1 s"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// foreign returns a text by another author in printable ASCII, escaped as in a Go string. If it is longer than
// `columns` characters, its middle is cut out.
func foreign(s string, columns int) string {
	quoted := strconv.QuoteToASCII(s)
	return clip(quoted[1:len(quoted)-1], columns)
}

const cut = "..."

// clip returns an ASCII text of at most `columns` characters: if s is longer, its middle is cut out.
func clip(s string, columns int) string {
	if len(s) <= columns {
		return s
	}
	room := columns - len(cut)
	if room <= 0 {
		return s[:max(columns, 0)]
	}
	tail := room / 3
	return s[:room-tail] + cut + s[len(s)-tail:]
}
