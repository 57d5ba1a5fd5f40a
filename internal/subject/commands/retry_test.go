package commands

import (
	"testing"
	"time"
)

// J-103: the wait doubles from the first on, and never passes the longest; not even when that is shorter than the
// first.
func TestABackoffDoublesUpToTheLongest(t *testing.T) {
	for n, want := range []time.Duration{0, 10, 20, 40, 80, 100, 100} {
		if got := Doubled(10, 100, uint32(n)); got != want {
			t.Errorf("after %d failures %d, want %d", n, got, want)
		}
	}
	if got := Doubled(10, 5, 1); got != 5 {
		t.Errorf("a first wait of 10 where the longest is 5 gives %d", got)
	}
	if got := Doubled(time.Second, 1<<62, 1<<31); got != 1<<62 {
		t.Errorf("after very many failures %d", got)
	}
}
