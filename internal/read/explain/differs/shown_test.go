package differs

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
				if was.Whole != a || is.Whole != b {
					t.Errorf("%s: the whole values are %q and %q", name, was.Whole, is.Whole)
				}
				if !strings.Contains(was.Cut, "A") || !strings.Contains(is.Cut, "B") {
					t.Errorf("%s: the line has %q and %q", name, was.Cut, is.Cut)
				}
				if most := mostValue + 2*len("…"); len(was.Cut) > most || len(a) <= mostValue && was.Cut != a {
					t.Errorf("%s: %d bytes are shown as %d: %q", name, len(a), len(was.Cut), was.Cut)
				}
				old := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","image":%s}]}}`, quote(t, a))
				now := fmt.Sprintf(`{"spec":{"containers":[{"name":"main","image":%s}]}}`, quote(t, b))
				diff := Templates([]byte(old), []byte(now))
				if want := fmt.Sprintf("main.image %s → %s", a, b); len(diff) != 1 || diff[0].Whole != want {
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
		if was, is := shown(row[0], row[1]); was.Cut != row[2] || is.Cut != row[3] {
			t.Errorf("of %q and %q are shown %q and %q, want %q and %q", row[0], row[1], was.Cut, is.Cut, row[2], row[3])
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
