package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// What an answer shows of a text of others on a line, in bytes. The whole text stands in Sentence.Whole.
const (
	mostQuoted = 240
	mostEnd    = 100 // of the end of a message of the cluster's, when not all of it is shown
	mostLine   = 110 // of one of two lines that are quoted
)

// passage is a part of a sentence: as a line shows it, and with all that was cut from it.
type passage struct{ cut, whole string }

// phrase is fmt.Sprintf for passages: each passage among the arguments is cut in one text, and whole in the other.
func phrase(format string, args ...any) passage {
	cut, whole := make([]any, len(args)), make([]any, len(args))
	for i, a := range args {
		cut[i], whole[i] = a, a
		if p, is := a.(passage); is {
			cut[i], whole[i] = p.cut, p.whole
		}
	}
	return passage{fmt.Sprintf(format, cut...), fmt.Sprintf(format, whole...)}
}

// passage is what the sentence says.
func (s *Sentence) passage() passage { return passage{s.Text, cmp.Or(s.Whole, s.Text)} }

// set makes the sentence say something else.
func (s *Sentence) set(p passage) {
	if s.Text, s.Whole = p.cut, p.whole; p.whole == p.cut {
		s.Whole = ""
	}
}

// after puts words before those of the sentence.
func (s *Sentence) after(text string) { s.set(phrase("%s%s", text, s.passage())) }

// each is a passage of which both texts were changed alike.
func (p passage) each(change func(string) string) passage {
	return passage{change(p.cut), change(p.whole)}
}

// beginning is a message of the cluster's. Its first words tell most: a scheduler counts nodes there, a kubelet names
// the image. An error of Go ends with its first cause, as in "failed to resolve image: …: connect: connection refused":
// of it the last words are shown, too.
func beginning(s string) passage {
	s = strings.TrimSpace(s)
	if len(s) <= mostQuoted {
		return passage{s, s}
	}
	if !strings.Contains(s, "failed to ") {
		return passage{begin(s, mostQuoted), s}
	}
	return passage{begin(s, mostQuoted-mostEnd) + " " + end(s, mostEnd), s}
}

// spoke reports whether a container wrote a message, kept or not.
func spoke(c *events.ContainerEnd) bool { return c.Message != "" || c.MessageWithheld }

// colon is a message behind a colon; nothing where there is none.
func colon(s string) passage {
	if s == "" {
		return passage{}
	}
	return phrase(": %s", beginning(s))
}

// wrote is "main wrote: …" of the termination message of a container. With terminationMessagePolicy
// FallbackToLogsOnError that is the end of its log, and the cause stands near the end: a long one is shown by its first
// line and by the last line that names a cause.
func wrote(name string, c *events.ContainerEnd) passage {
	message, who := strings.TrimSpace(c.Message), name+" wrote"
	if !c.Ran() {
		who = "its node says of " + name
	}
	switch {
	case message == "" && c.MessageWithheld:
		return passage{name + ": " + events.NotKept, name + ": " + events.NotKept}
	case c.MessageWithheld:
		short := fmt.Sprintf("%s: %q (%s)", who, begin(message, mostQuoted), events.FirstLineKept)
		return passage{short, fmt.Sprintf("%s: %q (%s)", who, message, events.FirstLineKept)}
	case len(message) <= mostQuoted:
		short := fmt.Sprintf("%s: %q", who, message)
		return passage{short, short}
	}
	return passage{fmt.Sprintf("%s: %s", who, excerpt(message)), who + ":\n" + message}
}

// excerpt quotes the first line of a long text and the last line that names a cause, or the beginning and the end of
// one line.
func excerpt(text string) string {
	lines := strings.Split(text, "\n")
	if len(lines) == 1 {
		return fmt.Sprintf("%q … %q", begin(text, mostLine), end(text, mostLine))
	}
	at := causeLine(lines)
	out := fmt.Sprintf("%q", begin(strings.TrimSpace(lines[0]), mostLine))
	if between := at - 1; between > 0 {
		out += fmt.Sprintf(" … %s …", words.Count(between, "line"))
	}
	out += fmt.Sprintf(" %q", begin(strings.TrimSpace(lines[at]), mostLine))
	if after := len(lines) - 1 - at; after > 0 {
		out += fmt.Sprintf(" … %s", words.Count(after, "line"))
	}
	return out
}

// namesCause are words of a line that says why a program ended: "Caused by: …" of Java, "ValueError: …" of Python,
// "panic: …" of Go, "Error: …" of Node, "fatal: …" of git.
var namesCause = regexp.MustCompile(`(?i)^(caused by\b|panic\b|fatal\b)|error|exception`)

// causeLine is the last line that names a cause and is not the first; the last line when none does. An indented line is
// a frame of a stack or a detail.
func causeLine(lines []string) int {
	for i := len(lines) - 1; i > 0; i-- {
		if line := lines[i]; strings.TrimLeft(line, " \t") == line && namesCause.MatchString(line) {
			return i
		}
	}
	return len(lines) - 1
}

func begin(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return strings.ToValidUTF8(s[:bytes], "") + "…"
}

func end(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return "…" + strings.ToValidUTF8(s[len(s)-bytes:], "")
}
