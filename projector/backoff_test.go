package projector

import (
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
)

// TestFailuresSinceTheLatestSuccess is the update rule of J-104, end by end.
func TestFailuresSinceTheLatestSuccess(t *testing.T) {
	type ended struct {
		turn, at  float64 // seconds
		succeeded bool
	}
	second := func(s float64) events.Time { return events.Time(s * float64(time.Second)) }
	for _, row := range []struct {
		name string
		ends []ended
		want []float64 // seconds
	}{
		{"only failures add up over batches", []ended{{1, 1, false}, {2, 2, false}, {2, 2, false}}, []float64{1, 2, 2}},
		{"only successes forget them", []ended{{1, 5, false}, {6, 4, true}}, nil},
		{
			"both in one batch: those that finished strictly after the latest success, and nothing from before",
			[]ended{{1, 1, false}, {9, 7, false}, {9, 5, true}, {9, 6, true}, {9, 6, false}, {9, 8, false}}, []float64{7, 8},
		},
		{"the order within a batch does not matter", []ended{{9, 5, true}, {9, 4, false}, {9, 6, false}}, []float64{6}},
		{"a batch lasts less than a second", []ended{{9, 9, true}, {9.999, 9, false}}, nil},
		{"and begins with its first end", []ended{{9, 9, true}, {9.9, 9, false}, {10, 9, false}}, []float64{9}},
		{"a clock that is set back begins another", []ended{{9, 9, true}, {8.9, 8, false}}, []float64{8}},
		{"a failure that is seen a second after a success counts, whenever it finished",
			[]ended{{3, 3, true}, {4, 2, false}}, []float64{2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b backoff
			for _, e := range row.ends {
				b.end(second(e.turn), second(e.at), e.succeeded)
			}
			var want []events.Time
			for _, at := range row.want {
				want = append(want, second(at))
			}
			if !slices.Equal(b.failures, want) {
				t.Errorf("got %v, want %v", b.failures, want)
			}
		})
	}
}
