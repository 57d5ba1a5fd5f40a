package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// Passages converts texts to passages that have no cut version.
func Passages(texts []string) (out []Passage) {
	for _, s := range texts {
		out = append(out, Passage{s, s})
	}
	return out
}

// Joined joins passages with sep between them, as strings.Join does.
func Joined(all []Passage, sep string) (out Passage) {
	for i, p := range all {
		if i > 0 {
			p = Phrase("%s%s", sep, p)
		}
		out = Phrase("%s%s", out, p)
	}
	return out
}

// The number of bytes of a quoted message that one line of an answer shows. Sentence.Whole has the whole message.
const (
	MostQuoted = 240
	mostEnd    = 100 // shown of the end of a message, if both ends matter
	MostLine   = 110 // shown of each line, if two lines are quoted
)

// Passage is a piece of text in two versions: Cut has quoted messages shortened for one line, Whole has them in full.
type Passage struct{ Cut, Whole string }

// Phrase formats a passage, as fmt.Sprintf does a string. Passages among the arguments appear cut in Cut, and whole in
// Whole.
func Phrase(format string, args ...any) Passage {
	cut, whole := make([]any, len(args)), make([]any, len(args))
	for i, a := range args {
		cut[i], whole[i] = a, a
		if p, is := a.(Passage); is {
			cut[i], whole[i] = p.Cut, p.Whole
		}
	}
	return Passage{fmt.Sprintf(format, cut...), fmt.Sprintf(format, whole...)}
}

// Passage returns both versions of the sentence's text.
func (s *Sentence) Passage() Passage { return Passage{s.Text, cmp.Or(s.Whole, s.Text)} }

// Set replaces both versions of the sentence's text.
func (s *Sentence) Set(p Passage) {
	if s.Text, s.Whole = p.Cut, p.Whole; p.Whole == p.Cut {
		s.Whole = ""
	}
}

// Prepend puts text before the text of the sentence.
func (s *Sentence) Prepend(text string) { s.Set(Phrase("%s%s", text, s.Passage())) }

// Each applies change to both versions of the passage.
func (p Passage) Each(change func(string) string) Passage {
	return Passage{change(p.Cut), change(p.Whole)}
}

// Beginning cuts a message of the scheduler, a kubelet or the API server. It keeps the beginning, which tells most: a
// scheduler counts nodes there, a kubelet names the image. If the message is an error of Go, it also keeps the end,
// which has the root cause: "failed to resolve image: …: connect: connection refused".
func Beginning(s string) Passage {
	s = strings.TrimSpace(s)
	if len(s) <= MostQuoted {
		return Passage{s, s}
	}
	if !strings.Contains(s, "failed to ") {
		return Passage{Begin(s, MostQuoted), s}
	}
	return Passage{Begin(s, MostQuoted-mostEnd) + " " + End(s, mostEnd), s}
}

// Spoke reports whether a container wrote a termination message, even if the log does not keep its text.
func Spoke(c *events.ContainerEnd) bool { return c.Message != "" || c.MessageWithheld }

// Colon returns ": " and the message, with a long message cut; empty for an empty message.
func Colon(s string) Passage {
	if s == "" {
		return Passage{}
	}
	return Phrase(": %s", Beginning(s))
}

// Wrote quotes the termination message of the container name: "main wrote: …". If the message is the end of the
// container's log (terminationMessagePolicy FallbackToLogsOnError), the cause is near its end. So Wrote cuts a long
// message to its first line and the last line that names a cause.
func Wrote(name string, c *events.ContainerEnd) Passage {
	message, who := strings.TrimSpace(c.Message), name+" wrote"
	if !c.Ran() {
		who = "its node says of " + name
	}
	switch {
	case message == "" && c.MessageWithheld:
		return Passage{name + ": " + events.NotKept, name + ": " + events.NotKept}
	case c.MessageWithheld:
		short := fmt.Sprintf("%s: %q (%s)", who, Begin(message, MostQuoted), events.FirstLineKept)
		return Passage{short, fmt.Sprintf("%s: %q (%s)", who, message, events.FirstLineKept)}
	case len(message) <= MostQuoted:
		short := fmt.Sprintf("%s: %q", who, message)
		return Passage{short, short}
	}
	return Passage{fmt.Sprintf("%s: %s", who, excerpt(message)), who + ":\n" + message}
}

// excerpt shortens a long text to its first line, and the last line that names a cause. Of a text with one line, it
// keeps the beginning and the end.
func excerpt(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return fmt.Sprintf("%q … %q", Begin(text, MostLine), End(text, MostLine))
	}
	at := causeLine(lines)
	out := fmt.Sprintf("%q", Begin(strings.TrimSpace(lines[0]), MostLine))
	if between := at - 1; between > 0 {
		out += fmt.Sprintf(" … %s …", words.Count(between, "line"))
	}
	out += fmt.Sprintf(" %q", Begin(strings.TrimSpace(lines[at]), MostLine))
	if after := len(lines) - 1 - at; after > 0 {
		out += fmt.Sprintf(" … %s", words.Count(after, "line"))
	}
	return out
}

// namesCause matches lines that say why a program ended: "Caused by: …" in Java, "ValueError: …" in Python, "panic:
// …" in Go, "Error: …" in Node, "fatal: …" in git.
var namesCause = regexp.MustCompile(`(?i)^(caused by\b|panic\b|fatal\b)|error|exception`)

// causeLine returns the index of the last line that names a cause, other than the first line. If there is none, it
// returns the last line. It ignores indented lines, which are stack frames or details.
func causeLine(lines []string) int {
	for i := len(lines) - 1; i > 0; i-- {
		if line := lines[i]; strings.TrimLeft(line, " \t") == line && namesCause.MatchString(line) {
			return i
		}
	}
	return len(lines) - 1
}

// Begin returns the first bytes of a text, and "…" if there are more.
func Begin(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return strings.ToValidUTF8(s[:bytes], "") + "…"
}

// End returns the last bytes of a text, with "…" before them if there are more.
func End(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-bytes:], "")
}

// Says returns the API server's message about a refusal. It removes the beginning that the answer says already, with
// the class of the refusal (such as Forbidden).
func Says(text string) string {
	if text == "" {
		return "the log has no words of the server"
	}
	return forbidden.ReplaceAllString(text, "")
}

// forbidden matches the beginning of the API server's message when admission refuses a pod: `pods "a-x2x7k" is
// forbidden: `. Says removes it, because the class of the refusal says the same.
var forbidden = regexp.MustCompile(`^pods "[^"]*" is forbidden: `)
