package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jobledger/jobledger/internal/say/words"
)

// The bounds of an answer, in bytes.
const (
	MostText = 6 << 10  // of the Markdown
	MostJSON = 48 << 10 // of the JSON beside it

	mostQuote = 900 // of one quote: a kubelet's message of 4 KiB is cut to it, and says so
	reserved  = 240 // of the last lines, which say what was cut
)

// marks are what ends or begins a quote, and the backtick, which begins a code span in Markdown: none stands in a
// quote.
var marks = strings.NewReplacer("«", "‹", "»", "›", "`", "'")

// quote is a text in marked quotes, on one line. A long one is cut, and says how many bytes are left out.
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

// cited are the numbers of records behind a quote.
func cited(records ...uint64) string {
	var b strings.Builder
	for _, r := range records {
		if r != 0 {
			fmt.Fprintf(&b, " #%d", r)
		}
	}
	return b.String()
}

// text is the Markdown of an answer. Lines that do not fit are counted.
type text struct {
	b   strings.Builder
	cut int
}

// line adds a line: a label of ours, a text in quotes, and the records that it follows from. An empty text adds none.
func (t *text) line(label, said string, records ...uint64) {
	if said == "" {
		return
	}
	t.add("- " + label + " " + quote(said) + cited(records...))
}

// add adds a line of ours; all that others wrote in it is quoted already.
func (t *text) add(line string) {
	if t.cut > 0 || t.b.Len()+len(line)+1 > MostText-reserved {
		t.cut++
		return
	}
	t.b.WriteString(line + "\n")
}

// end is the whole text. more says how to ask for what was cut; empty for nothing.
func (t *text) end(more string) string {
	if t.cut > 0 {
		fmt.Fprintf(&t.b, "CUT: %s left out. %s\n", words.Count(t.cut, "more line"), more)
	}
	return t.b.String()
}
