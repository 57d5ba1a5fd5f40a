//go:build linux

package boltlog

import (
	"context"
	"fmt"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// committing is a side that appends single records, each once the one before is durable.
func committing(b *testing.B, name string, l *Log, w *storetest.Writer) sidebyside.Side {
	item := sized("job-a", 1)
	return sidebyside.Typical(name, 60, func() {
		c := l.Append(w.Batch(item), true)
		<-c.Done()
		if c.Err() != nil {
			b.Fatal(c.Err())
		}
	})
}

// BenchmarkLongLog commits to a log of 5,000,000 records (500,000 with -short), and beside it to one of 10,000.
func BenchmarkLongLog(b *testing.B) {
	records := 5_000_000
	if testing.Short() {
		records = 500_000
	}
	short, ws := openTest(b, store.Options{}, system)
	fill(b, short, ws, 10_000)
	long, wl := openTest(b, store.Options{}, system)
	fill(b, long, wl, records)
	b.Run(fmt.Sprint("records=", records), func(b *testing.B) {
		sidebyside.Compare(b, "commit", committing(b, "long", long, wl), committing(b, "short", short, ws), sidebyside.Typical("probe", 60, newProbe(b)))
	})
}

// BenchmarkRetention commits to a log with a pruned older half, and beside it to one with all its files.
func BenchmarkRetention(b *testing.B) {
	records := 600_000
	if testing.Short() {
		records = 150_000
	}
	options := store.Options{RotateBytes: 8 << 20}
	whole, ww := openTest(b, options, system)
	fill(b, whole, ww, records)
	pruned, wp := openTest(b, options, system)
	fill(b, pruned, wp, records)
	half := events.Sequence(records / 2)
	keep, err := pruned.Prunable(half)
	if err != nil {
		b.Fatal(err)
	}
	wp.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: &events.Pruned{First: keep}})
	if first, err := pruned.Prune(context.Background(), half); err != nil || first != keep || keep == 1 {
		b.Fatalf("prune: first %d, error %v, want %d", first, err, keep)
	}
	sidebyside.Compare(b, "commit", committing(b, "pruned", pruned, wp), committing(b, "whole", whole, ww))
}
