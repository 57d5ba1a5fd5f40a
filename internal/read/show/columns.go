package show

import (
	"unicode"
	"unicode/utf8"
)

// A column is the width of one character on a terminal. A Chinese character takes two columns, a combining accent none.

// twice has the characters that take two columns.
var twice = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi,
	{
		R16: []unicode.Range16{{Lo: 0x3000, Hi: 0x303e, Stride: 1}, {Lo: 0xff01, Hi: 0xff60, Stride: 1}, {Lo: 0xffe0, Hi: 0xffe6, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, {Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, {Lo: 0x1f900, Hi: 0x1faff, Stride: 1}},
	},
}

// columnsOf returns the columns that a character takes on a terminal.
func columnsOf(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case !(r >= 0xff61 && r <= 0xffdc) && unicode.In(r, twice...):
		return 2
	}
	return 1
}

// columns returns how many columns a text takes on a terminal.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// head returns the longest beginning of s that fits in width columns.
func head(s string, width int) string {
	for i, r := range s {
		if width -= columnsOf(r); width < 0 {
			return s[:i]
		}
	}
	return s
}

// tail returns the longest end of s that fits in width columns. The end does not begin with a combining accent.
func tail(s string, width int) string {
	begin := len(s)
	for at := len(s); at > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:at])
		takes := columnsOf(r)
		if width -= takes; width < 0 {
			break
		}
		if at -= n; takes > 0 {
			begin = at
		}
	}
	return s[begin:]
}
