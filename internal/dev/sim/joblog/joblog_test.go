package joblog

import (
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/reconciler/replay"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// TestTheLogIsThatOfABusyCluster: the log replays without a divergence, Jobs of every shape run and end in it, and the
// same seed gives the same log.
func TestTheLogIsThatOfABusyCluster(t *testing.T) {
	const records = 30_000
	var hashes []events.Hash
	for range 2 {
		log := memlog.New(events.Identity{LogID: "0f0f", Epoch: 1})
		l, err := Write(log, Busy(records))
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, log.Head().Hash)
		r := replay.New()
		kinds := map[events.Kind]int{}
		for rec, err := range log.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			kinds[rec.Kind]++
			found, err := r.Record(rec)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range found {
				t.Fatal(d)
			}
		}
		if n := l.World().Stubs(); n < 30 {
			t.Errorf("%d Jobs are finished, want many", n)
		}
		t.Logf("%d stubs, %d Jobs; records by kind: %v", l.World().Stubs(), l.World().Len(), kinds)
	}
	if hashes[0] != hashes[1] {
		t.Error("the same seed gave two logs")
	}
}
