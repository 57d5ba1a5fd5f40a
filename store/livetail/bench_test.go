package livetail_test

import (
	"testing"

	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/livetail"
	"github.com/jobledger/jobledger/store/storetest"
)

// BenchmarkFollow reads records that have just become durable, 64 at a time, from memory and from the log on disk.
func BenchmarkFollow(b *testing.B) {
	below, err := boltlog.Open(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	log := livetail.New(below, 0)
	b.Cleanup(func() { _ = log.Close() })
	w := storetest.NewWriter(b, log)
	w.Create()
	items := make([]storetest.Item, 64)
	for i := range items {
		items[i] = storetest.Pod("job-a", i)
	}
	const batches = 40
	for range batches {
		w.Durable(items...)
	}
	follow := func(log store.Reader) func() {
		return func() {
			for n := range batches {
				for _, err := range log.Read(ctx, log.Head().Sequence-63) {
					if err != nil {
						b.Fatal(n, err)
					}
				}
			}
		}
	}
	sidebyside.Compare(b, "record",
		sidebyside.Computing("memory", batches*len(items), follow(log)),
		sidebyside.Computing("log", batches*len(items), follow(below)))
}
