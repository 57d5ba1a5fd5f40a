package show

import "strings"

const leastReason = 6 // shortest part of a reason that is shown, in bytes

// ClipMiddle shortens a name to width columns by cutting its middle: names differ most at their start and end.
func ClipMiddle(s string, width int) string {
	if width <= 0 || columns(s) <= width {
		return s
	}
	end := (width - 1) / 2
	return head(s, max(width-1-end, 0)) + "…" + tail(s, end)
}

// ClipWords shortens a text to width columns. It cuts between two words, so that no name is cut, but never the first
// word. A text in parentheses gives a reason; it may be cut anywhere.
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
		if at = strings.IndexByte(s, ' '); at <= 0 {
			return s
		}
	}
	return strings.TrimRight(s[:at], " ") + " …"
}

// wrapped joins parts with the text between, and breaks the line between two parts where it would be wider than width
// columns. Width 0 means one line.
func wrapped(parts []string, between string, width int) string {
	var b strings.Builder
	at := 0
	for i, part := range parts {
		switch n := columns(between) + columns(part); {
		case i == 0:
			at = columns(part)
		case width > 0 && at+n > width:
			b.WriteByte('\n')
			at = columns(part)
		default:
			b.WriteString(between)
			at += n
		}
		b.WriteString(part)
	}
	return b.String()
}
