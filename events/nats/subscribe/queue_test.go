package subscribe

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/nats-io/nats.go/jetstream"
)

// delivered is a message at a place in the stream, with the number of its delivery.
type delivered struct {
	jetstream.Msg
	place, n uint64
}

func (d delivered) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Stream: d.place, Consumer: d.n}}, nil
}

// TestSettle: a server may deliver one message twice before another one. All are there only when each has come.
func TestSettle(t *testing.T) {
	for _, row := range []struct {
		name   string
		places []uint64
		lost   uint64 // deliveries to another subscriber before the last of these
		all    bool
	}{
		{"each came, in another order", []uint64{9, 8}, 0, true},
		{"one came twice, the other did not", []uint64{8, 8}, 0, false},
		{"one came twice, and then the other", []uint64{8, 8, 9}, 0, true},
		{"what is newer does not count", []uint64{8, 10}, 0, false},
		{"each came, but 10 was sent to one that was killed", []uint64{8, 9, 11}, 1, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(func(error) {}, 0)
				for i, place := range row.places {
					n := uint64(i) + 1
					if i == len(row.places)-1 {
						n += row.lost
					}
					if err := q.add(delivered{place: place, n: n}); err != nil {
						t.Fatal(err)
					}
				}
				if all := q.settle(context.Background(), 2, 9); all != row.all {
					t.Errorf("all there: %t, want %t", all, row.all)
				}
				if q.held[len(q.held)-1].skipped == row.all {
					t.Error("what is not there is read from the stream, and what is there is not")
				}
			})
		})
	}
}
