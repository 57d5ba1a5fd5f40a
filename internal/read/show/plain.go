package show

import (
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// plain is a text in which Markdown sees no markup. Words that could be emphasis, HTML, a link or a mention are a code
// span: a backslash keeps no chat from calling everybody for \@here, or from making a link of a bare address.
//
//	mail a@b.example, see https://x.example  →  mail `a@b.example,` see `https://x.example`
func plain(s string) string {
	var b strings.Builder
	inSpan := false
	for i, word := range strings.Split(words.Clean(s), " ") {
		live := live.MatchString(word)
		if inSpan && !live {
			b.WriteByte('`')
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if live && !inSpan {
			b.WriteByte('`')
		}
		inSpan = live
		b.WriteString(strings.ReplaceAll(word, "`", "'")) // else it would end the span
	}
	if inSpan {
		b.WriteByte('`')
	}
	return b.String()
}

// live are words that a chat or a Markdown page makes something of: those with characters of markup, and with what
// looks like the name of a host, as in a bare address.
var live = regexp.MustCompile(`[^\p{L}\p{N},.;:()'"%/+=?…–—·→×≤≥-]|://|(?i:www\.)|[\p{L}\p{N}-]\.\p{L}{2}`)
