package show

import (
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// MarkdownDamage returns a line of Markdown for each damage of the log; empty if there is none.
func MarkdownDamage(damage []error) string {
	var b strings.Builder
	for _, err := range damage {
		b.WriteString("\n**The log is damaged**, so the answer may lack something: " + plain(words.Clean(err.Error())) + "\n")
	}
	return b.String()
}

// MarkdownNotes returns a line of Markdown for each note: a remark on what the answer leaves out.
func MarkdownNotes(notes []string) string {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString("\nNote: " + plain(words.Clean(note)) + "\n")
	}
	return b.String()
}
