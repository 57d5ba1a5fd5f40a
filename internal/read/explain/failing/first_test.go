package failing

import (
	"testing"
	"time"

	"github.com/jobledger/jobledger/internal/read/explain/try"
	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestSpansOfTries: the shortest and the longest, if of each it is known for how long it ran.
func TestSpansOfTries(t *testing.T) {
	ran := func(d float64) *try.Try { return &try.Try{Started: whentest.Seen(1, 0), Ended: whentest.Seen(2, d)} }
	lo, hi, known := spans([]*try.Try{ran(5), ran(3), ran(9)})
	if !known || lo != 3*time.Second || hi != 9*time.Second {
		t.Errorf("%s to %s, %t", lo, hi, known)
	}
	for _, tries := range [][]*try.Try{nil, {ran(5), {}}, {{Started: whentest.Seen(1, 0), Gone: whentest.Seen(2, 5)},
		ran(5)}} {
		if _, _, known := spans(tries); known {
			t.Errorf("%v is known", tries)
		}
	}
}

// TestShares: the most frequent first, three at most.
func TestShares(t *testing.T) {
	whentest.Texts(t, [][2]string{
		{shares(map[string]int{"a": 1, "b": 2}, 3), "b 2, a 1"}, {shares(map[string]int{"b": 1, "a": 1}, 3),
			"a 1, b 1, unknown 1"},
		{shares(map[string]int{"a": 4, "b": 3, "c": 2, "d": 1}, 10), "a 4, b 3, c 2, 1 others"},
		{shares(map[string]int{"a": 3, "b": 2, "c": 1}, 6), "a 3, b 2, c 1"},
	})
}
