package observation

import (
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/types"
)

// Bounds of texts that others write, in bytes.
const (
	maxReason      = 256
	maxMessage     = 1 << 10
	maxTermination = 4 << 10 // the kubelet's own bound of a termination message
	maxCondition   = 4 << 10
	maxUID         = 128
)

// boundedUID bounds a UID in a reference that users write. UIDs from the API server have 36 bytes, but it accepts any
// text there; a longer one names nothing.
func boundedUID(uid types.UID) types.UID { return types.UID(bounded(string(uid), maxUID)) }

// bounded returns s as valid UTF-8 of at most limit bytes. It ends a cut text with "…".
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
