package show

import (
	"strings"

	"github.com/jobledger/jobledger/internal/say/words"
)

// MarkdownDamage names damage of the log behind an answer in Markdown; empty for none.
func MarkdownDamage(damage []error) string {
	var b strings.Builder
	for _, err := range damage {
		b.WriteString("\n**The log is damaged**, so the answer may lack something: " + plain(words.Clean(err.Error())) + "\n")
	}
	return b.String()
}

// MarkdownNotes says below an answer in Markdown what it leaves out.
func MarkdownNotes(notes []string) string {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString("\nNote: " + plain(words.Clean(note)) + "\n")
	}
	return b.String()
}
