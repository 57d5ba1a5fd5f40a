package show

import "testing"

// TestColumnsOfEachScript: what a terminal shows in two columns, at both ends of each range, and what stands beside it.
func TestColumnsOfEachScript(t *testing.T) {
	for want, all := range [][]rune{
		{0x300, 0x301, 0x20d0, 0x20dd, 0x0488},
		{' ', 'a', 'é', 0x2ff, 0x370, 'Ж', 'ب', '…', '—', 0x2fff, 0x303f, 0xfeff, 0xff00, 0xff61, 0xff66, 0xff9d, 0xffa1,
			0xffdc, 0xffe7, 0xffee, 0x1f2ff, 0x1f650, 0x1f67f, 0x1f700, 0x1f8ff, 0x1fb00},
		{'中', 'あ', 'ア', '한', 0x1100, 'ㄅ', 0x31a0, 0xa000, 0xa4c6, 0x3000, 0x303e, 0xff01, 0xff60, 0xffe0, 0xffe6, 0x1f300,
			0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1faff},
	} {
		for _, r := range all {
			if got := columnsOf(r); got != want {
				t.Errorf("%U %c takes %d columns, want %d", r, r, got, want)
			}
		}
	}
}

// TestTheBeginningAndTheEndThatFit: a character is shown whole or not at all, and what takes no column stays with the
// one before it.
func TestTheBeginningAndTheEndThatFit(t *testing.T) {
	for _, row := range []struct {
		text       string
		width      int
		head, tail string
	}{
		{"", 3, "", ""}, {"abc", 0, "", ""}, {"abc", 2, "ab", "bc"}, {"abc", 3, "abc", "abc"}, {"abc", 4, "abc", "abc"},
		{"中a中", 1, "", ""}, {"中a中", 2, "中", "中"}, {"中a中", 3, "中a", "a中"}, {"中a中", 4, "中a", "a中"}, {"中a中", 5, "中a中", "中a中"},
		{"e\u0301e\u0301", 1, "e\u0301", "e\u0301"}, {"e\u0301e\u0301", 2, "e\u0301e\u0301", "e\u0301e\u0301"},
	} {
		if h, end := head(row.text, row.width), tail(row.text, row.width); h != row.head || end != row.tail {
			t.Errorf("%q in %d columns: %q and %q, want %q and %q", row.text, row.width, h, end, row.head, row.tail)
		}
	}
}
