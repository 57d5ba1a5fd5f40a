//go:build linux

package boltlog

import (
	"fmt"
	"os"
	"testing"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
)

// BenchmarkCold scans a file that is not in memory: after reading ahead, as at the opening of a log; through bbolt's
// mapping alone, for which the kernel does not read ahead; and page by page, as sealed files are read. Beside it the
// file is only read.
func BenchmarkCold(b *testing.B) {
	records := 300_000
	if testing.Short() {
		records = 100_000
	}
	l, w := openTest(b, store.Options{}, system)
	fill(b, l, w, records)
	path := l.tail.path
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	mapped := func() {
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		view{files: []*logFile{{path: path, first: 1, db: db}}, durable: l.durable}.bare(b)
	}
	sidebyside.Compare(b, "record",
		sidebyside.All("ahead", records, func() {
			f := evict(b, path)
			if err := readAhead(f, 1<<62); err != nil {
				b.Fatal(err)
			}
			mapped()
		}),
		sidebyside.All("mapped", records, func() { evict(b, path); mapped() }),
		sidebyside.All("pages", records, func() {
			evict(b, path)
			f, err := openSealed(l.dir, 1)
			if err != nil {
				b.Fatal(err)
			}
			view{files: []*logFile{f}, durable: l.durable}.bare(b)
			if err := f.end(store.ErrClosed); err != nil {
				b.Fatal(err)
			}
		}),
		sidebyside.All("raw", records, func() {
			if err := readAhead(evict(b, path), 1<<62); err != nil {
				b.Fatal(err)
			}
		}))
}

// evict drops a file's pages from memory.
func evict(b *testing.B, path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		b.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		b.Fatal(fmt.Errorf("drop %s from memory: %w", path, err))
	}
	return f
}
