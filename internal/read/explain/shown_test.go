package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestTwoLongValuesAreToldApart: a line shows in what two values differ, however long they are and wherever that is;
// the whole sentence has all of both.
func TestTwoLongValuesAreToldApart(t *testing.T) {
	const near = mostValue - mostAlike
	for _, before := range []int{0, 1, near, near + 1, mostValue - 1, mostValue, mostValue + 1, 500} {
		for _, after := range []int{0, 1, 40, mostValue, 500} {
			for _, fill := range []string{"x", "ä", "日"} {
				a := strings.Repeat(fill, before) + "A" + strings.Repeat(fill, after)
				b := strings.Repeat(fill, before) + "B" + strings.Repeat(fill, after)
				name := fmt.Sprintf("%d of %s before, %d after", before, fill, after)
				was, is := shown(a, b)
				if was.whole != a || is.whole != b {
					t.Errorf("%s: the whole values are %q and %q", name, was.whole, is.whole)
				}
				if !strings.Contains(was.cut, "A") || !strings.Contains(is.cut, "B") {
					t.Errorf("%s: the line has %q and %q", name, was.cut, is.cut)
				}
				if most := mostValue + 2*len("…"); len(was.cut) > most || len(a) <= mostValue && was.cut != a {
					t.Errorf("%s: %d bytes are shown as %d: %q", name, len(a), len(was.cut), was.cut)
				}
				old := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","image":%s}]}}`, quote(t, a))
				now := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","image":%s}]}}`, quote(t, b))
				diff := templateChanges([]byte(old), []byte(now))
				if want := fmt.Sprintf("main.image %s → %s", a, b); len(diff) != 1 || diff[0].whole != want {
					t.Errorf("%s: in the templates differ %q, want %q", name, diff, want)
				}
			}
		}
	}
	x, y := func(n int) string { return strings.Repeat("x", n) }, func(n int) string { return strings.Repeat("y", n) }
	for _, row := range [][4]string{
		{"", x(60), "", x(60)},
		{"", x(61), "", x(60) + "…"},
		{x(61), x(60) + "y", "…" + x(21), "…" + x(20) + "y"},
		{x(41), x(41) + y(61), x(41), "…" + x(20) + y(40) + "…"},
	} {
		if was, is := shown(row[0], row[1]); was.cut != row[2] || is.cut != row[3] {
			t.Errorf("of %q and %q are shown %q and %q, want %q and %q", row[0], row[1], was.cut, is.cut, row[2], row[3])
		}
	}
}

func quote(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPassagesAreJoined: with what stands between them in both texts, and nothing before the first.
func TestPassagesAreJoined(t *testing.T) {
	a, b := passage{"a…", "abc"}, passage{"x", "x"}
	for n, want := range []passage{{}, a, {"a… · x", "abc · x"}} {
		if got := joined([]passage{a, b}[:n], " · "); got != want {
			t.Errorf("%d passages are %q, want %q", n, got, want)
		}
	}
	if got := passages([]string{"a", "b"}); len(got) != 2 || got[1] != (passage{"b", "b"}) {
		t.Errorf("texts are the passages %q", got)
	}
}
