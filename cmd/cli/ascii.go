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

// asciiWriter writes text for a locale without UTF-8. It replaces each symbol of our own texts by one ASCII character,
// so that columns keep their width. It escapes other characters as JSON does, so nothing is lost.
type asciiWriter struct {
	io.Writer
	// the output is JSON, so symbols of our own are escaped, too: a program then reads the same text as in UTF-8
	JSON bool
	part []byte // first bytes of a character, of which the next write has the rest
}

// signs maps the non-ASCII symbols in our own texts to the ASCII characters that replace them in a locale without
// UTF-8.
var signs = map[rune]byte{
	'…': '~', '—': '-', '–': '-', '−': '-', '→': '>', '·': '|', '≤': '<', '≥': '>', '×': 'x',
	'─': '_', '█': '#', '▒': '=', '░': ':', '╳': 'X', '✓': '+', '✗': 'x',
}

// AsksForASCII reports whether the user's locale has no UTF-8. As in POSIX, the first of the variables that is set
// counts. If none is set, it returns false: most containers set none, and a terminal on another machine shows their
// output.
func AsksForASCII(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// SpeakASCII makes all output of the program ASCII; other characters are replaced or escaped.
func (c *CLI) SpeakASCII() {
	c.ASCII = &asciiWriter{Writer: c.Out}
	c.Out, c.Err = c.ASCII, &asciiWriter{Writer: c.Err}
}

// Write writes b in ASCII. It keeps an incomplete character at the end for the next call.
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

// escaped returns a character in the way that JSON escapes it: é becomes \u00e9.
func escaped(r rune) string {
	if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, r1, r2)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// yaml converts JSON to YAML. For ASCII output, non-ASCII characters must be escaped, and YAML has escapes only in
// double quotes. So each such character is given to the YAML library as a control character and a number, which forces
// the quotes.
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
