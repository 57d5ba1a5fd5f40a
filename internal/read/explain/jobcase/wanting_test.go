package jobcase

import (
	"testing"

	"github.com/jobledger/jobledger/internal/read/explain/whentest"
)

// TestALackBeginsAndEnds: short ones are forgotten.
func TestALackBeginsAndEnds(t *testing.T) {
	var w wanting
	w.end(whentest.Seen(1, 1))
	w.begin(whentest.Seen(2, 10), 3)
	w.begin(whentest.Seen(3, 11), 4)
	if x := w.open(); len(w.lacks) != 1 || x == nil || x.From != whentest.Seen(2, 10) || x.Pods != 3 {
		t.Fatalf("%+v", w.lacks)
	}
	w.end(whentest.Seen(4, 14.9))
	if len(w.lacks) != 0 || w.open() != nil {
		t.Errorf("one of less than 5 s is kept: %+v", w.lacks)
	}
	w.begin(whentest.Seen(5, 20), 1)
	w.end(whentest.Seen(6, 25))
	if len(w.lacks) != 1 || w.open() != nil || w.lacks[0].Until != whentest.Seen(6, 25) {
		t.Errorf("one of 5 s: %+v", w.lacks)
	}
	w.begin(whentest.Seen(7, 30), 1)
	if len(w.lacks) != 2 {
		t.Errorf("the next: %+v", w.lacks)
	}
}
