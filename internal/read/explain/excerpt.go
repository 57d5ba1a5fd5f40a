package explain

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/say/words"
)

// How many bytes of a quoted message a line of an answer shows. Sentence.Whole has the whole message.
const (
	mostQuoted = 240
	mostEnd    = 100 // of the end of a cluster message that is cut
	mostLine   = 110 // of each of two quoted lines
)

// passage is a part of a sentence in two versions: cut as a line shows it, and whole.
type passage struct{ cut, whole string }

// phrase is fmt.Sprintf for passages: it formats both versions of the passages among the arguments.
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

// passage returns both versions of the sentence.
func (s *Sentence) passage() passage { return passage{s.Text, cmp.Or(s.Whole, s.Text)} }

// set replaces the text of the sentence.
func (s *Sentence) set(p passage) {
	if s.Text, s.Whole = p.cut, p.whole; p.whole == p.cut {
		s.Whole = ""
	}
}

// after puts text before the text of the sentence.
func (s *Sentence) after(text string) { s.set(phrase("%s%s", text, s.passage())) }

// each applies change to both versions.
func (p passage) each(change func(string) string) passage {
	return passage{change(p.cut), change(p.whole)}
}

// beginning shortens a message of the cluster. The first words tell most: a scheduler counts nodes there, a kubelet
// names the image. An error of Go ends with its root cause, as in "failed to resolve image: …: connect: connection
// refused": of such a message the last words are kept, too.
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

// spoke reports whether a container wrote a termination message, even if the log does not keep it.
func spoke(c *events.ContainerEnd) bool { return c.Message != "" || c.MessageWithheld }

// colon returns ": " and the message; empty without one.
func colon(s string) passage {
	if s == "" {
		return passage{}
	}
	return phrase(": %s", beginning(s))
}

// wrote quotes the termination message of a container: "main wrote: …". With terminationMessagePolicy
// FallbackToLogsOnError the message is the end of the log, and the cause stands near its end: a long message is shown
// by its first line and the last line that names a cause.
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

// excerpt quotes the first line of a long text and the last line that names a cause. Of a single line it quotes the
// beginning and the end.
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

// namesCause matches lines that say why a program ended: "Caused by: …" of Java, "ValueError: …" of Python, "panic: …"
// of Go, "Error: …" of Node, "fatal: …" of git.
var namesCause = regexp.MustCompile(`(?i)^(caused by\b|panic\b|fatal\b)|error|exception`)

// causeLine returns the index of the last line that names a cause, except the first line. Without one it returns the
// last line. Indented lines are stack frames or details, and do not count.
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
