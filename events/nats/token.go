package nats

import (
	"fmt"
	"strings"
)

// noName is the token of the empty text. A token of a subject consists of letters, digits, '-', '_' and '=', which are
// valid in all names of NATS:
//
//	a letter, a digit, '-'   stands for itself
//	'_'                      stands for a dot, which a token cannot contain
//	'=' and two digits       stands for the byte with that hexadecimal value (upper case)
//	'-' alone                stands for the empty text
//
// No Kubernetes name contains '_' or begins with '-', so most names are their own tokens, and names with dots stay
// readable: "a.b" becomes "a_b".
const noName = "-"

// Token encodes any text as one token of a subject. Different texts have different tokens.
func Token(text string) string {
	if plain(text) {
		return text
	}
	return string(appendToken(nil, text))
}

// plain reports whether Token returns the text unchanged.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; !letter(c) && c != '-' {
			return false
		}
	}
	return text != "" && text != noName
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func appendToken(buf []byte, text string) []byte {
	const digits = "0123456789ABCDEF"
	if text == "" {
		return append(buf, noName...)
	}
	for i := range len(text) {
		switch c := text[i]; {
		case letter(c), c == '-' && text != noName:
			buf = append(buf, c)
		case c == '.':
			buf = append(buf, '_')
		default:
			buf = append(buf, '=', digits[c>>4], digits[c&0xf])
		}
	}
	return buf
}

// ParseToken decodes a token that Token made. It refuses all other tokens.
func ParseToken(token string) (string, error) {
	if token == noName {
		return "", nil
	}
	if plain(token) {
		return token, nil
	}
	text := make([]byte, 0, len(token))
	for i := 0; i < len(token); i++ {
		switch c := token[i]; {
		case letter(c), c == '-':
			text = append(text, c)
		case c == '_':
			text = append(text, '.')
		case c == '=' && i+2 < len(token):
			text = append(text, value(token[i+1])<<4|value(token[i+2]))
			i += 2
		default:
			return "", fmt.Errorf("token %q: unexpected %q", token, c)
		}
	}
	if again := Token(string(text)); again != token {
		return "", fmt.Errorf("token %q: it should read %q", token, again)
	}
	return string(text), nil
}

// value returns the value of a hexadecimal digit. For other bytes it returns 0; the caller detects these by encoding
// the result again.
func value(c byte) byte { return byte(max(0, strings.IndexByte("0123456789ABCDEF", c))) }
