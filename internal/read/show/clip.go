package show

import "strings"

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

// wrapped puts parts into lines of that width, each part whole; 0 for one line.
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
