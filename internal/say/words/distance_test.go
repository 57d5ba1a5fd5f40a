package words

import "testing"

// TestDistanceOfTwoWords is that of its definition: the cheapest way to change the last letter, or to leave it.
func TestDistanceOfTwoWords(t *testing.T) {
	var letters func(a, b string) int
	letters = func(a, b string) int {
		switch {
		case a == "":
			return len(b)
		case b == "":
			return len(a)
		}
		la, lb := len(a)-1, len(b)-1
		changed := letters(a[:la], b[:lb])
		if a[la] != b[lb] {
			changed++
		}
		return min(letters(a[:la], b)+1, letters(a, b[:lb])+1, changed)
	}
	all := []string{"", "a", "b", "ab", "ba", "aab", "bab", "abab", "bbbb", "abcab"}
	for _, a := range all {
		for _, b := range all {
			if got, want := Distance(a, b), letters(a, b); got != want || got != Distance(b, a) {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
		}
	}
}
