package publish

import (
	"errors"
	"testing"

	"github.com/jobledger/jobledger/events"
)

// TestOnlyOfTheOldestMessageIsItBelievedThatTheServerHadIt: "I had it" for a later message says nothing about the
// messages before it. If the publisher went on behind it, it would leave these out.
func TestOnlyOfTheOldestMessageIsItBelievedThatTheServerHadIt(t *testing.T) {
	elsewhere := ack{Sequence: 3, Duplicate: true}
	for _, row := range []struct {
		sentence string
		acked    int // messages that are acknowledged before
		about    uint64
		want     events.Sequence // through which record the server has them; 0: the stream is asked
	}{
		{"the oldest", 0, 0, 10},
		{"the oldest that is not acknowledged", 1, 1, 11},
		{"a later one", 0, 1, 0},
		{"the newest", 1, 2, 0},
	} {
		w := newWindow(4, 1<<20, false, func(events.Sequence, uint64, int) error { return nil }, nil)
		for i := range uint64(3) {
			if _, err := w.add(t.Context(), sent{record: events.Sequence(10 + i), place: 20 + i}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range uint64(row.acked) {
			if err := w.take(i, ack{Sequence: 20 + i}); err != nil {
				t.Fatal(err)
			}
		}
		err := w.take(row.about, elsewhere)
		var moved *movedError
		switch {
		case row.want == 0 && !errors.Is(err, errLostPlace), row.want > 0 && (!errors.As(err, &moved) || moved.record != row.want):
			t.Errorf("%s: %v, want record %d", row.sentence, err, row.want)
		}
	}
}
