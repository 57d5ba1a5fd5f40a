package boltlog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
)

// BenchmarkOpen opens to write a log that was closed in good order, with and without the index of its newest file.
// Without it all headers are decoded to make the index. Beside it the file is read.
func BenchmarkOpen(b *testing.B) {
	records := 300_000
	if testing.Short() {
		records = 50_000
	}
	l, w := openTest(b, store.Options{}, system)
	fill(b, l, w, records)
	path := l.tail.path
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	again := func() {
		l, err := open(l.dir, store.Options{}, system)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
	sidebyside.Compare(b, "record",
		sidebyside.Computing("indexed", records, again),
		sidebyside.Computing("unindexed", records, func() {
			if err := os.Remove(filepath.Join(l.dir, fileName(1, indexSuffix))); err != nil {
				b.Fatal(err)
			}
			again()
		}),
		sidebyside.Computing("raw", records, func() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}))
}
