package words

import (
	"testing"
	"time"
)

// TestDurationsThatAreAlike: two durations are one number where both round to it, by a tenth of them at most.
func TestDurationsThatAreAlike(t *testing.T) {
	for _, row := range []struct{ a, b, want string }{
		{"509ms", "512ms", "510ms"}, {"512ms", "509ms", "510ms"}, {"504ms", "506ms", ""}, {"29.3s", "29.4s", "29s"}, {"2.1s", "3.1s", ""},
		{"2.1s", "2.2s", ""}, {"2.11s", "2.13s", "2.1s"}, {"9ms", "10ms", ""}, {"61m", "62m", ""}, {"12h1m", "12h4m", "12h"}, {"10m1s", "10m4s", "10m"},
	} {
		a, b := span(t, row.a), span(t, row.b)
		about, are := Alike(a, b)
		if are != (row.want != "") || are && Span(about) != row.want {
			t.Errorf("%s and %s are about %s, %t, want %q", row.a, row.b, about, are, row.want)
		}
		if unit := min(a, b) / 20; are && ((a-about).Abs() > unit || (b-about).Abs() > unit) {
			t.Errorf("%s is no rounding of %s and %s", about, a, b)
		}
	}
}

func span(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
