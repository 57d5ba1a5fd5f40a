package store_test

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// TestWhenAFileIsFull gives a file records and asks at each size whether another file may begin.
func TestWhenAFileIsFull(t *testing.T) {
	type note struct {
		kind  events.Kind
		bytes int
	}
	const limit = 1000
	state, mark, other := events.KindStateStored, events.KindFileRestated, events.KindPodChanged
	for _, row := range []struct {
		name  string
		notes []note
		full  int64 // the size from which on it is full; 0 for never
		roof  int64 // 0 for none
	}{
		{"a log's first file states nothing", []note{{events.KindLogCreated, 50}, {other, 100}}, limit, 0},
		{"a file that does not stand alone yet is not ended", []note{{state, 50}, {other, 5000}}, 0, 0},
		{"one that does is, at the limit", []note{{state, 20}, {other, 50}, {mark, 10}}, limit, 0},
		{"but not before it holds ten times its states", []note{{state, 20}, {state, 280}, {mark, 10}}, 3000, 0},
		{"also those behind the mark", []note{{state, 20}, {mark, 10}, {other, 10}, {state, 180}}, 2000, 0},
		{"a roof ends it before", []note{{state, 20}, {state, 280}, {mark, 10}}, 1500, 1500},
		{"but it holds twice its states at least", []note{{state, 20}, {state, 880}, {mark, 10}}, 1800, 1500},
		{"and the limit counts more than the roof", []note{{state, 20}, {mark, 10}}, limit, limit / 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f store.Filing
			for i, n := range row.notes {
				f.Note(n.kind, i == 0, n.bytes)
			}
			for size := int64(0); size < 10_000; size += 10 {
				if got, want := f.Full(size, limit, row.roof), row.full != 0 && size >= row.full; got != want {
					t.Fatalf("with %d bytes: full is %v, want %v", size, got, want)
				}
			}
		})
	}
}
