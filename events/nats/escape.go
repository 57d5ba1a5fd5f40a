package nats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// escape encodes the value of a CloudEvents attribute for a header. It writes each byte that is not printable ASCII,
// and space, quote and percent sign, as '%' and two hexadecimal digits (section 3.1.3.2 of the NATS binding). "a b"
// becomes "a%20b".
func escape(value string) string {
	for i := range len(value) {
		if mustEscape(value[i]) {
			return escapeFrom(value, i)
		}
	}
	return value
}

func mustEscape(c byte) bool { return c <= ' ' || c == '"' || c == '%' || c >= 0x7f }

func escapeFrom(value string, i int) string {
	b := []byte(value[:i])
	for ; i < len(value); i++ {
		if c := value[i]; mustEscape(c) {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

var errEscape = errors.New("it is not percent-encoded UTF-8")

// unescape decodes what escape made. It also accepts what other writers may send: quotes around the value, and
// unnecessary escapes.
func unescape(header string) (string, error) {
	if strings.HasPrefix(header, `"`) && strings.HasSuffix(header, `"`) && len(header) > 1 {
		header = unquote(header[1 : len(header)-1])
	}
	if !strings.Contains(header, "%") {
		return header, nil
	}
	b := make([]byte, 0, len(header))
	for i := 0; i < len(header); i++ {
		if header[i] != '%' {
			b = append(b, header[i])
			continue
		}
		if i+2 >= len(header) {
			return "", errEscape
		}
		c, err := strconv.ParseUint(header[i+1:i+3], 16, 8)
		if err != nil {
			return "", errEscape
		}
		b = append(b, byte(c))
		i += 2
	}
	if !utf8.Valid(b) {
		return "", errEscape
	}
	return string(b), nil
}

// unquote removes backslash escapes from the text inside quotes.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
