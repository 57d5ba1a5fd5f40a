package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jobledger/jobledger/internal/say/words"
)

// Limits of an answer, in bytes.
const (
	MostText = 6 << 10  // size of the Markdown
	MostJSON = 48 << 10 // size of the JSON

	mostQuote = 900 // largest size of one quote: a kubelet's message of 4 KiB is cut to 900 bytes
	reserved  = 240 // bytes of the Markdown that stay free for its last line, which says what was cut
)

// marks replaces the characters with which a text could end the quote that it stands in, and the backtick, which begins
// code in Markdown.
var marks = strings.NewReplacer("«", "‹", "»", "›", "`", "'")

// quote returns text as one line in « ». It cuts a text of more than 900 bytes, and says how many are missing.
func quote(text string) string {
	text = marks.Replace(words.Clean(strings.TrimSpace(text)))
	if len(text) <= mostQuote {
		return "«" + text + "»"
	}
	end := mostQuote
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("«%s» (%d bytes of this quote are left out)", text[:end], len(text)-end)
}

// cited returns the numbers of records, as they are written behind a sentence: " #384 #391".
func cited(records ...uint64) string {
	var b strings.Builder
	for _, r := range records {
		if r != 0 {
			fmt.Fprintf(&b, " #%d", r)
		}
	}
	return b.String()
}

// text is the Markdown of an answer while it is written, up to MostText bytes. cut counts the lines that did not fit.
type text struct {
	b   strings.Builder
	cut int
}

// line adds a line: a label of this package, the foreign text said in quotes, and the numbers of the records that prove
// it. It adds nothing if said is empty.
func (t *text) line(label, said string, records ...uint64) {
	if said == "" {
		return
	}
	t.add("- " + label + " " + quote(said) + cited(records...))
}

// add adds a line unchanged. The caller must have quoted (quote) each text that comes from outside.
func (t *text) add(line string) {
	if t.cut > 0 || t.b.Len()+len(line)+1 > MostText-reserved {
		t.cut++
		return
	}
	t.b.WriteString(line + "\n")
}

// end returns the Markdown. If lines did not fit, it adds how many, and the hint more, which says how to get them.
func (t *text) end(more string) string {
	if t.cut > 0 {
		fmt.Fprintf(&t.b, "CUT: %s left out. %s\n", words.Count(t.cut, "more line"), more)
	}
	return t.b.String()
}
