package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jobledger/jobledger/events"
)

// Clean makes a text from elsewhere safe to print: it stays on one line, and cannot control a terminal. Invisible
// characters are written as in a Go string, and bytes that are not UTF-8 as \x and two digits.
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

// hidden reports whether r is no visible character, so that a terminal could act on it.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

// Moment returns a time in UTC, to the millisecond, with its date.
func Moment(t events.Time) string { return Zone{}.Moment(t) }

// Count returns a number of things: "1 pod", "3 pods".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

// Exit says how a container ended: "main 137 (OOMKilled)".
func Exit(name string, code int32, reason string) string {
	text := fmt.Sprintf("%s %d", name, code)
	if Telling(reason) {
		text += " (" + reason + ")"
	}
	return text
}

// Telling reports whether the reason of a container's end says more than its exit code.
func Telling(reason string) bool { return !slices.Contains([]string{"", "Error", "Completed"}, reason) }
