package informer

import (
	"strings"
	"unicode/utf8"
)

// Bounds of texts that others wrote, in bytes.
const (
	maxReason      = 256
	maxMessage     = 1 << 10
	maxTermination = 4 << 10 // the kubelet's own bound of a termination message
	maxCondition   = 4 << 10
)

// bounded is s as valid UTF-8 of at most limit bytes; what was cut off is marked.
func bounded(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	const mark = "…"
	cut := limit - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}
