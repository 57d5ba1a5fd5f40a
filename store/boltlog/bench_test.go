package boltlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// The appending benchmarks let that many goroutines append one record of about 174 bytes each and wait until it is
// durable: on this log, on bbolt's own batching with its defaults, and on the floor, a file written ahead with one write
// and one fdatasync per group. All encode the record; the log and the floor also chain it. Compare them with benchstat; the ratios within one run are what counts.
var appenders = []int{1, 16, 256, 4096}

func BenchmarkAppend(b *testing.B) {
	for _, n := range appenders {
		b.Run(fmt.Sprintf("log/appenders=%d", n), func(b *testing.B) {
			l, w := openTest(b, Options{}, system)
			var mu sync.Mutex
			item := sized("job-a", 1)
			together(b, n, func(int) error {
				mu.Lock()
				c := l.Append(w.Batch(item), true)
				mu.Unlock()
				<-c.Done()
				return c.Err()
			})
		})
		b.Run(fmt.Sprintf("bbolt/appenders=%d", n), func(b *testing.B) {
			db, err := bbolt.Open(filepath.Join(b.TempDir(), "x.db"), 0o600, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			var mu sync.Mutex
			sequence := uint64(0)
			record := oneRecord()
			together(b, n, func(int) error {
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
			})
		})
		b.Run(fmt.Sprintf("floor/appenders=%d", n), func(b *testing.B) { benchmarkFloor(b, n) })
	}
}

// together runs b.N appends on n goroutines.
func together(b *testing.B, n int, appendOne func(i int) error) {
	b.ResetTimer()
	var all sync.WaitGroup
	work := make(chan int, n)
	for range n {
		all.Go(func() {
			for i := range work {
				if err := appendOne(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range b.N {
		work <- i
	}
	close(work)
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

func benchmarkFloor(b *testing.B, n int) {
	f, err := os.Create(filepath.Join(b.TempDir(), "wal"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := writeZeros(f, int64(b.N)*250+1<<20); err != nil {
		b.Fatal(err)
	}
	type appending struct {
		stored []byte
		done   chan error
	}
	waiting := make(chan appending, 8192)
	go func() { // ends when waiting is closed
		var hash events.Hash
		offset := int64(0)
		for first := range waiting {
			group, err := []appending{first}, error(nil)
			for len(waiting) > 0 {
				group = append(group, <-waiting)
			}
			var buffer []byte
			for _, a := range group {
				buffer = binary.LittleEndian.AppendUint32(buffer, uint32(len(a.stored)))
				buffer = binary.LittleEndian.AppendUint32(buffer, crc32.Checksum(a.stored, castagnoli))
				buffer = append(buffer, a.stored...)
				if hash, err = hash.Next(a.stored); err != nil {
					b.Error(err)
				}
			}
			if _, err = f.WriteAt(append(buffer, hash[:]...), offset); err == nil {
				err = syscall.Fdatasync(int(f.Fd()))
			}
			offset += int64(len(buffer) + len(hash))
			for _, a := range group {
				a.done <- err
			}
		}
	}()
	record := oneRecord()
	together(b, n, func(int) error {
		stored, err := events.AppendRecord(nil, record)
		if err != nil {
			return err
		}
		done := make(chan error, 1)
		waiting <- appending{stored, done}
		return <-done
	})
	close(waiting)
}

// oneRecord is a record like those of sized.
func oneRecord() *events.Record { return recordOf(sized("job-a", 1), 1000) }

const benchRecords = 100_000

// filledLog is a closed log of benchRecords records of 500 Jobs in groups of 1000.
func filledLog(b *testing.B) *Log {
	b.Helper()
	l, w := openTest(b, Options{}, system)
	for n := 0; n < benchRecords; n += 1000 {
		var items []storetest.Item
		for i := range 1000 {
			items = append(items, sized(fmt.Sprint("job-", (n+i)/200), i))
			items[i].Stream.ID = fmt.Sprint("job-", (n+i)/200)
		}
		w.Durable(items...)
	}
	return l
}

// BenchmarkRead compares reading the whole log with reading the same records, length and checksum each, from a raw
// file, and with reading one Job's 200 records.
func BenchmarkRead(b *testing.B) {
	l := filledLog(b)
	b.Run("scan", func(b *testing.B) { // checksums and headers, as opening does
		f := &logFile{path: l.tail.path, first: 1, db: l.tail.db}
		for b.Loop() {
			if err := f.scan(l.Head().Sequence, func(*events.Header, []byte) error { return nil }, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N)*benchRecords/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			for _, err := range l.Read(b.Context(), 0) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.N)*benchRecords/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("one-job", func(b *testing.B) {
		for b.Loop() {
			for _, err := range l.ReadStream(b.Context(), events.JobStream("job-250"), 0, store.Forward) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.N)*200/b.Elapsed().Seconds(), "records/s")
	})
	b.Run("floor", func(b *testing.B) { benchmarkRawRead(b, l) })
}

func benchmarkRawRead(b *testing.B, l *Log) {
	path := filepath.Join(b.TempDir(), "raw")
	var raw []byte
	for r, err := range l.Read(b.Context(), 0) {
		if err != nil {
			b.Fatal(err)
		}
		stored, err := events.AppendRecord(nil, &r)
		if err != nil {
			b.Fatal(err)
		}
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(stored)))
		raw = binary.LittleEndian.AppendUint32(raw, crc32.Checksum(stored, castagnoli))
		raw = append(raw, stored...)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		content, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		for len(content) > 0 {
			n := binary.LittleEndian.Uint32(content)
			stored := content[8:][:n]
			if crc32.Checksum(stored, castagnoli) != binary.LittleEndian.Uint32(content[4:]) {
				b.Fatal("checksum")
			}
			if _, err := events.DecodeRecord(stored); err != nil {
				b.Fatal(err)
			}
			content = content[8+n:]
		}
	}
	b.ReportMetric(float64(b.N)*benchRecords/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkOpen opens a log of benchRecords records to write: every page is read and checked, and the index made.
func BenchmarkOpen(b *testing.B) {
	l := filledLog(b)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		again, err := Open(l.dir, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := again.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
