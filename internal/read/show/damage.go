package show

import (
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// MarkdownDamage returns a Markdown line for each damage of the log behind an answer; empty for none.
func MarkdownDamage(damage []error) string {
	var b strings.Builder
	for _, err := range damage {
		b.WriteString("\n**The log is damaged**, so the answer may lack something: " + plain(words.Clean(err.Error())) + "\n")
	}
	return b.String()
}

// MarkdownNotes returns a Markdown line for each note on what an answer leaves out.
func MarkdownNotes(notes []string) string {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString("\nNote: " + plain(words.Clean(note)) + "\n")
	}
	return b.String()
}
