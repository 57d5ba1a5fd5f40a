package show

import (
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// plain returns a text that Markdown shows without markup. A word that could be emphasis, HTML, a link or a mention
// goes into a code span: a backslash would not keep a chat from notifying everybody for \@here, or from linking a bare
// address.
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
		b.WriteString(strings.ReplaceAll(word, "`", "'")) // a backquote would end the span
	}
	if inSpan {
		b.WriteByte('`')
	}
	return b.String()
}

// live matches words that a chat or a Markdown page may interpret: words with markup characters, and words that look
// like a host name.
var live = regexp.MustCompile(`[^\p{L}\p{N},.;:()'"%/+=?…–—·→×≤≥-]|://|(?i:www\.)|[\p{L}\p{N}-]\.\p{L}{2}`)
