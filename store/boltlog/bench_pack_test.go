//go:build linux

package boltlog

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// packAll packs all sealed files.
func packAll(b *testing.B, l *Log) {
	b.Helper()
	for {
		first, err := l.Pack(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if first == 0 {
			return
		}
	}
}

// BenchmarkPacked reads the log of a busy cluster from packed files, and beside it from plain ones: the whole log, and
// the records of single Jobs. It also reads plain files without following the chain. It reports how many bytes a record
// takes in either form.
func BenchmarkPacked(b *testing.B) {
	records := 200_000
	if testing.Short() {
		records = 50_000
	}
	source := joblog.New(b, joblog.Busy(records))
	n := source.Len()
	var jobs []events.Stream
	for i := range source.Records {
		if r := &source.Records[i]; r.Kind == events.KindJobAdded {
			jobs = append(jobs, r.Stream)
		}
	}
	options := store.Options{RotateBytes: 4 << 20}
	plain, packed := copied(b, source, options), copied(b, source, options)
	source.Forget()
	packAll(b, packed)
	perRecord := func(l *Log) float64 {
		size := int64(0)
		for _, f := range l.files[:len(l.files)-1] {
			size += f.sealed.Bytes()
		}
		return float64(size) / float64(l.files[len(l.files)-1].first-1)
	}
	read := func(name string, l *Log, chained bool) sidebyside.Side {
		return sidebyside.Computing(name, n, func() {
			if s := l.mustView(); !chained {
				s.stored(b, func(stored []byte) { mustDecode(b, stored) })
				return
			}
			for _, err := range l.Read(b.Context(), 0) {
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("read", func(b *testing.B) {
		sidebyside.Compare(b, "record", read("packed", packed, true), read("plain", plain, true), read("unchained", plain, false))
		b.ReportMetric(perRecord(packed), "packed-B/record")
		b.ReportMetric(perRecord(plain), "plain-B/record")
	})
	one := func(name string, l *Log) sidebyside.Side {
		return sidebyside.Computing(name, 100, func() {
			for range 100 {
				for _, err := range l.ReadStream(b.Context(), jobs[rand.IntN(len(jobs))], 0, store.Forward) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("one-job", func(b *testing.B) { sidebyside.Compare(b, "history", one("packed", packed), one("plain", plain)) })
}

// BenchmarkPackBeside commits single records while a file is packed, and beside it without. It reports the 99th
// percentile.
func BenchmarkPackBeside(b *testing.B) {
	l, w := openTest(b, store.Options{RotateBytes: 64 << 20}, system)
	fill(b, l, w, 500_000)
	l.background.Wait()
	item := sized("job-a", 1)
	commits := func() float64 {
		took := make([]float64, 2000)
		for i := range took {
			start := time.Now()
			c := l.Append(w.Batch(item), true)
			storetest.Await(b, c)
			took[i] = float64(time.Since(start))
		}
		slices.Sort(took)
		return took[len(took)*99/100]
	}
	packing := func() float64 {
		ctx, stop := context.WithCancel(b.Context())
		ended := make(chan error)
		go func() {
			first, err := l.Pack(ctx)
			if first == 0 && err == nil {
				err = errors.New("there is no plain file")
			}
			ended <- err
		}()
		p99 := commits()
		stop()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			b.Fatal(err)
		}
		return p99
	}
	sidebyside.Compare(b, "p99", sidebyside.Side{Name: "packing", Cost: packing}, sidebyside.Side{Name: "alone", Cost: commits})
}

// BenchmarkPack packs a sealed file, and beside it reads the file and follows its chain. It measures processor time,
// without the pauses of packing.
func BenchmarkPack(b *testing.B) {
	records := 200_000
	if testing.Short() {
		records = 50_000
	}
	source := joblog.New(b, joblog.Busy(records))
	l := copied(b, source, store.Options{RotateBytes: int64(source.Bytes()) * 9 / 10})
	f := l.files[0]
	n := int(l.files[1].first - 1)
	source.Forget()
	end, err := f.sealedHead()
	if err != nil {
		b.Fatal(err)
	}
	sidebyside.Compare(b, "record",
		sidebyside.Computing("pack", n, func() {
			packed, err := writePacked(b.Context(), f)
			if err != nil {
				b.Fatal(err)
			}
			if err := packed.discard(); err != nil {
				b.Fatal(err)
			}
		}),
		sidebyside.Computing("read", n, func() {
			if err := f.chained(end.Head, func(events.Label, []byte, events.Hash) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}))
}
