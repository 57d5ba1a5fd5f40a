//go:build linux

package boltlog

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/internal/dev/sim/joblog"
	"github.com/jobledger/jobledger/projector"
	"github.com/jobledger/jobledger/store"
)

// BenchmarkReplay reads the log of a busy cluster from a warm file.
//
//	fold     checksums, decoding and folding, as at a start; beside it the same from a raw file
//	verify   Verify; beside it the libraries alone read, hash and decode the same records
//	all      checksums, chain, decoding and folding; beside it the same from a raw file, and the processor's floor:
//	         SHA-256 of the bytes and protobuf for the messages
//	decode   all without folding, beside that floor; what a fold costs depends on its result, and has another floor
//	open     Open and Close: every page and header, and the index; beside it a read of the file
func BenchmarkReplay(b *testing.B) {
	records := 200_000
	if testing.Short() {
		records = 50_000
	}
	source := joblog.New(b, joblog.Busy(records))
	m := source.Messages(b)
	l := copied(b, source, store.Options{})
	n := source.Len()
	source.Forget()
	s, err := l.view()
	if err != nil {
		b.Fatal(err)
	}
	raw := rawCopy(b, s.files, s.durable.Sequence)
	b.Run("fold", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("log", n, func() { foldOf(b, l) }),
			sidebyside.Computing("raw", n, func() {
				w := projector.NewWorld()
				raw.scan(b, func(stored []byte) { apply(b, w, stored) })
			}))
	})
	b.Run("all", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("log", n, func() {
				w, c := projector.NewWorld(), chain{b: b}
				s.stored(b, func(stored []byte) { c.next(stored); apply(b, w, stored) })
				c.check(s.durable)
			}),
			sidebyside.Computing("raw", n, func() {
				w, c := projector.NewWorld(), chain{b: b}
				raw.scan(b, func(stored []byte) { c.next(stored); apply(b, w, stored) })
				c.check(s.durable)
			}),
			sidebyside.Computing("floor", n, func() { source.Hash(); m.Unmarshal(nil) }))
	})
	b.Run("decode", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("log", n, func() {
				c := chain{b: b}
				s.stored(b, func(stored []byte) { c.next(stored); mustDecode(b, stored) })
				c.check(s.durable)
			}),
			sidebyside.Computing("floor", n, func() { source.Hash(); m.Unmarshal(nil) }))
	})
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("verify", func(b *testing.B) {
		sidebyside.Compare(b, "record",
			sidebyside.Computing("verify", n, func() {
				if report, err := Verify(context.Background(), l.dir, nil); err != nil || report.Records != uint64(n) {
					b.Fatalf("%d records, error %v, want %d", report.Records, err, n)
				}
			}),
			sidebyside.Computing("floor", n, func() { raw.scan(b, func([]byte) {}); source.Hash(); m.Unmarshal(nil) }))
	})
	b.Run("open", func(b *testing.B) {
		path := filepath.Join(l.dir, fileName(1, fileSuffix))
		sidebyside.Compare(b, "record",
			sidebyside.Computing("open", n, func() {
				again, err := Open(l.dir, store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := again.Close(); err != nil {
					b.Fatal(err)
				}
			}),
			sidebyside.Computing("read", n, func() {
				if _, err := os.ReadFile(path); err != nil {
					b.Fatal(err)
				}
			}))
	})
}

// copied returns a log on disk with the records of another log.
func copied(b *testing.B, source *joblog.Log, options store.Options) *Log {
	options.LogID = source.Identity().LogID
	l, err := open(b.TempDir(), options, system)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	var batch events.Batch
	var last store.Commit
	for _, r := range source.Records {
		if batch.Records = append(batch.Records, r); r.Last {
			last = l.Append(batch, false)
			batch = events.Batch{}
		}
	}
	<-last.Done()
	if last.Err() != nil {
		b.Fatal(last.Err())
	}
	return l
}

func foldOf(b *testing.B, l store.Reader) {
	w := projector.NewWorld()
	for rec, err := range l.Read(context.Background(), 0) {
		if err != nil {
			b.Fatal(err)
		}
		w.Apply(&rec)
	}
}

func apply(b *testing.B, w *projector.World, stored []byte) {
	rec := mustDecode(b, stored)
	w.Apply(&rec)
}

func mustDecode(b *testing.B, stored []byte) events.Record {
	rec, err := events.DecodeRecord(stored)
	if err != nil {
		b.Fatal(err)
	}
	return rec
}

// chain computes the chain value.
type chain struct {
	b    *testing.B
	hash events.Hash
}

func (c *chain) next(stored []byte) {
	var err error
	if c.hash, err = c.hash.Next(stored); err != nil {
		c.b.Fatal(err)
	}
}

func (c *chain) check(head store.Head) {
	if c.hash != head.Hash {
		c.b.Fatalf("the chain ends with %s, the head says %s", c.hash, head.Hash)
	}
}

// stored walks the stored records and checks their checksums.
func (s view) stored(b *testing.B, fn func(stored []byte)) {
	for _, f := range s.files {
		_, last := s.file(f.first)
		for next := f.first; next <= last; {
			chunks, _, err := f.chunks(next, last, readBytes)
			if err != nil {
				b.Fatal(err)
			}
			for _, c := range chunks {
				r, err := c.Reader()
				for err == nil {
					stored, ok, bad := r.Record()
					if err = bad; !ok {
						break
					}
					fn(stored)
				}
				if err != nil {
					b.Fatal(err)
				}
				next = r.Next
			}
		}
	}
}
