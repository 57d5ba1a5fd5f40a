package show

import (
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// plain returns a text that shows in Markdown as it is. It puts a word that could be emphasis, HTML, a link or a
// mention into a code span. A backslash would not help: a chat notifies everybody for \@here, and makes a link of an
// address without markup.
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
		b.WriteString(strings.ReplaceAll(word, "`", "'")) // a backquote within the code span would end it
	}
	if inSpan {
		b.WriteByte('`')
	}
	return b.String()
}

// live matches a word that a chat or Markdown could interpret: it has markup characters, or looks like a host name.
var live = regexp.MustCompile(`[^\p{L}\p{N},.;:()'"%/+=?…–—·→×≤≥-]|://|(?i:www\.)|[\p{L}\p{N}-]\.\p{L}{2}`)
