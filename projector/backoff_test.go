package projector

import (
	"slices"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestFailuresSinceTheLatestSuccess is the update rule of J-104, turn by turn.
func TestFailuresSinceTheLatestSuccess(t *testing.T) {
	type ended struct {
		turn, at  events.Time
		succeeded bool
	}
	for _, row := range []struct {
		name string
		ends []ended
		want []events.Time
	}{
		{"only failures add up over turns", []ended{{1, 1, false}, {2, 2, false}, {2, 2, false}}, []events.Time{1, 2, 2}},
		{"only successes forget them", []ended{{1, 5, false}, {6, 4, true}}, nil},
		{
			"both in one turn: those that finished strictly after the latest success, and nothing from before",
			[]ended{{1, 1, false}, {9, 7, false}, {9, 5, true}, {9, 6, true}, {9, 6, false}, {9, 8, false}}, []events.Time{7, 8},
		},
		{"the order within a turn does not matter", []ended{{9, 5, true}, {9, 4, false}, {9, 6, false}}, []events.Time{6}},
		{"a failure seen after a success counts, whenever it finished", []ended{{3, 3, true}, {4, 2, false}}, []events.Time{2}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b backoff
			for _, e := range row.ends {
				b.end(e.turn, e.at, e.succeeded)
			}
			if !slices.Equal(b.failures, row.want) {
				t.Errorf("got %v, want %v", b.failures, row.want)
			}
		})
	}
}
