package metrics_test

import (
	"context"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/events/metrics"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store/livetail"
	"github.com/jobledger/jobledger/store/storetest/memlog"
)

// BenchmarkCount counts the log of a busy cluster, from memory as it is when the loop has just written it.
func BenchmarkCount(b *testing.B) {
	const records = 20_000
	log := livetail.New(memlog.New(events.Identity{LogID: "0f0f", Epoch: 1}), 64<<20)
	if _, err := joblog.Write(log, joblog.Busy(records)); err != nil {
		b.Fatal(err)
	}
	n := float64(log.Head().Sequence)
	b.ReportAllocs()
	for b.Loop() {
		if err := metrics.Follow(log, projector.NewWorld(), metrics.New()).CatchUp(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
}
