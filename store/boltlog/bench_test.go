//go:build linux

package boltlog

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/sidebyside"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// BenchmarkAppend lets n goroutines append records of about 174 bytes, each once its record before is durable. It runs
// on this log, on bbolt's own batching with its defaults, and on a bare write-ahead log: a file written ahead, with one
// write and one fdatasync per group. All encode the record; the log and the bare one also chain it.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 16, 256, 4096} {
		b.Run(fmt.Sprintf("appenders=%d", n), func(b *testing.B) {
			each := max(40, n) / n * 10
			side := func(name string, one func() error) sidebyside.Side {
				return sidebyside.All(name, n*each, func() { together(b, n, each, one) })
			}
			sidebyside.Compare(b, "record",
				side("log", logAppender(b)), side("bbolt", batchAppender(b)), side("wal", newWAL(b).appender(b)))
		})
	}
}

// together lets n goroutines call a function `each` times.
func together(b *testing.B, n, each int, one func() error) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for range each {
				if err := one(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}

func logAppender(b *testing.B) func() error {
	l, w := openTest(b, store.Options{}, system)
	var mu sync.Mutex
	item := sized("job-a", 1)
	return func() error {
		mu.Lock()
		c := l.Append(w.Batch(item), true)
		mu.Unlock()
		<-c.Done()
		return c.Err()
	}
}

func batchAppender(b *testing.B) func() error {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "x.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	var mu sync.Mutex
	sequence := uint64(0)
	record := oneRecord()
	return func() error {
		value, err := events.AppendRecord(nil, record)
		if err != nil {
			return err
		}
		return db.Batch(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists(logBucket)
			if err != nil {
				return err
			}
			mu.Lock()
			sequence++
			key := binary.BigEndian.AppendUint64(nil, sequence)
			mu.Unlock()
			return bucket.Put(key, value)
		})
	}
}

// oneRecord returns a record like those of sized.
func oneRecord() *events.Record { return recordOf(sized("job-a", 1), 1000) }

// BenchmarkCommit appends batches of n records, each once the batch before is durable. Beside it are the bare
// write-ahead log, and 4 KiB appended to a growing file, which is the time that the disk takes for any commit.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			l, w := openTest(b, store.Options{}, system)
			items := make([]storetest.Item, n)
			for i := range items {
				items[i] = sized("job-a", i)
			}
			wal, record := newWAL(b), oneRecord()
			sidebyside.Compare(b, "commit",
				sidebyside.Typical("log", 60, func() {
					c := l.Append(w.Batch(items...), true)
					<-c.Done()
					if c.Err() != nil {
						b.Fatal(c.Err())
					}
				}),
				sidebyside.Typical("wal", 60, func() {
					group := make([][]byte, n)
					for i := range group {
						group[i] = encoded(b, record)
					}
					if err := wal.commit(group); err != nil {
						b.Fatal(err)
					}
				}),
				sidebyside.Typical("probe", 60, newProbe(b)))
		})
	}
}

func encoded(b *testing.B, r *events.Record) []byte {
	stored, err := events.AppendRecord(nil, r)
	if err != nil {
		b.Fatal(err)
	}
	return stored
}
