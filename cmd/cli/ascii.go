package cli

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// asciiWriter writes for a locale that is not UTF-8. Each sign of ours becomes one of ASCII, of the same width, so that
// columns stay where they are. What others wrote is escaped as in JSON, and loses nothing.
type asciiWriter struct {
	io.Writer
	JSON bool   // what is written is JSON: signs of ours are escaped too, so that a program reads what it would read otherwise
	part []byte // the beginning of a character, whose rest comes with the next write
}

// signs are all that is not ASCII in texts of ours.
var signs = map[rune]byte{
	'…': '~', '—': '-', '–': '-', '−': '-', '→': '>', '·': '|', '≤': '<', '≥': '>', '×': 'x',
	'─': '_', '█': '#', '▒': '=', '░': ':', '╳': 'X', '✓': '+', '✗': 'x',
}

// AsksForASCII reports whether the locale is one without UTF-8. The first variable that is set counts, as in POSIX.
// Where none is, the locale asks for nothing: so it is in most containers, whose output ends on a terminal elsewhere.
func AsksForASCII(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// SpeakASCII makes all output ASCII.
func (c *CLI) SpeakASCII() {
	c.ASCII = &asciiWriter{Writer: c.Out}
	c.Out, c.Err = c.ASCII, &asciiWriter{Writer: c.Err}
}

// Write writes whole characters.
func (w *asciiWriter) Write(b []byte) (int, error) {
	rest := append(w.part, b...)
	out := make([]byte, 0, len(rest)+16)
	for len(rest) > 0 && (utf8.FullRune(rest)) {
		r, n := utf8.DecodeRune(rest)
		sign, ours := signs[r]
		switch {
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, rest[0])
		case r < utf8.RuneSelf:
			out = append(out, rest[0])
		case ours && !w.JSON:
			out = append(out, sign)
		default:
			out = append(out, escaped(r)...)
		}
		rest = rest[n:]
	}
	w.part = append([]byte(nil), rest...)
	if _, err := w.Writer.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// escaped is a character as JSON escapes it.
func escaped(r rune) string {
	if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, r1, r2)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// yaml is JSON as YAML. In ASCII, what is not ASCII is escaped; YAML knows escapes only in double quotes, so each such
// character goes through the library as a control character and its number: that makes the quotes.
func (c *CLI) yaml(json []byte) ([]byte, error) {
	if c.ASCII != nil {
		json = notASCII.ReplaceAllFunc(json, func(b []byte) []byte {
			r, _ := utf8.DecodeRune(b)
			return fmt.Appendf(nil, `\u0001<%08x>`, r)
		})
	}
	text, err := yaml.JSONToYAML(json)
	if err != nil {
		return nil, fmt.Errorf("write YAML: %w", err)
	}
	if c.ASCII == nil {
		return text, nil
	}
	return numbered.ReplaceAllFunc(text, func(b []byte) []byte {
		n, err := strconv.ParseUint(string(b[len(`\x01<`):len(b)-1]), 16, 32)
		if err != nil {
			return b
		}
		return fmt.Appendf(nil, `\U%08x`, n)
	}), nil
}

var (
	notASCII = regexp.MustCompile(`[^\x00-\x7f]`)
	numbered = regexp.MustCompile(`\\x01<[0-9a-f]{8}>`)
)
