//go:build linux

package boltlog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

const (
	jobsAtATime = 64
	perJob      = 200
)

// fill appends that many records of 174 bytes and waits until they are durable. Each Job has 200 records, and the
// records of 64 Jobs alternate.
func fill(b *testing.B, l *Log, w *storetest.Writer, records int) {
	b.Helper()
	fillJobs(b, l, w, records, perJob)
}

// fillJobs is fill with perJob records of each Job.
func fillJobs(b *testing.B, l *Log, w *storetest.Writer, records, perJob int) {
	b.Helper()
	const batch = 1000
	item, items := sized("job-a", 1), make([]storetest.Item, batch)
	var last store.Commit
	for n := 0; n < records; n += batch {
		for i := range items {
			at := n + i
			items[i] = item
			items[i].Stream = jobStream(at/(jobsAtATime*perJob)*jobsAtATime + at%jobsAtATime)
		}
		if last = l.Append(w.Batch(items...), false); n%(20*batch) == 0 {
			storetest.Await(b, last)
		}
	}
	storetest.Await(b, last)
}

func jobStream(n int) events.Stream {
	return events.JobStream(types.UID(fmt.Sprintf("%08x-1234-4678-8abc-0123456789ab", uint32(n)*2654435761)))
}

// BenchmarkMillion reads a log of 1,000,000 records in several files (200,000 with -short): the 200 records of one Job,
// all records, and beside it all records from a raw file.
func BenchmarkMillion(b *testing.B) {
	records := 1_000_000
	if testing.Short() {
		records = 200_000
	}
	l, w := openTest(b, store.Options{RotateBytes: 64 << 20}, system)
	fill(b, l, w, records)
	l.background.Wait() // the indexes of sealed files
	s, err := l.view()
	if err != nil {
		b.Fatal(err)
	}
	jobs := records / (jobsAtATime * perJob) * jobsAtATime // Jobs with all their records
	history := func(name string, dir store.Direction, first, n int) sidebyside.Side {
		return sidebyside.Computing(name, 10, func() {
			for range 10 {
				got := 0
				for _, err := range l.ReadStream(context.Background(), jobStream(first+rand.IntN(n)), 0, dir) {
					if err != nil {
						b.Fatal(err)
					}
					got++
				}
				if got != perJob {
					b.Fatalf("a Job has %d records, want %d", got, perJob)
				}
			}
		})
	}
	scan := sidebyside.Computing("scan", 1, func() { s.scan(b, func(events.Label, []byte) error { return nil }) })
	b.Run("one-job", func(b *testing.B) {
		sidebyside.Compare(b, "history", history("job", store.Forward, 0, jobs), history("backward", store.Backward, 0, jobs), scan)
	})
	b.Run("one-job-in-the-tail", func(b *testing.B) {
		before := int(s.files[len(s.files)-1].first)/(jobsAtATime*perJob)*jobsAtATime + jobsAtATime
		sidebyside.Compare(b, "history", history("job", store.Forward, before, jobs-before), scan)
	})
	raw := rawCopy(b, s.files, s.durable.Sequence)
	b.Run("scan", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("bare", records, func() { s.bare(b) }),
			sidebyside.Computing("raw", records, func() { raw.scan(b, func([]byte) {}) }),
			sidebyside.Computing("headers", records, func() {
				s.scan(b, func(events.Label, []byte) error { return nil })
			}))
	})
}

// scan walks all records with their headers, as opening does.
func (s view) scan(b *testing.B, fn func(events.Label, []byte) error) {
	for _, f := range s.files {
		_, last := s.file(f.first)
		if err := f.scan(last, fn, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// bare walks all records and checks only their checksums.
func (s view) bare(b *testing.B) { s.stored(b, func([]byte) {}) }
