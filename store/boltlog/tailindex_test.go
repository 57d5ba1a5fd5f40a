package boltlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
	"github.com/jobledger/jobledger/store/internal/streamindex"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestAStopStoresTheIndexOfTheTail: after a stop in good order a reader finds a stream without reading all records.
// After a crash the stored index covers fewer records, and is not used.
func TestAStopStoresTheIndexOfTheTail(t *testing.T) {
	log, w := openTest(t, store.Options{}, system)
	for range 20 {
		w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-b", 1))
	}
	dir, end := log.dir, log.Head()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	stored, err := streamindex.Open(filepath.Join(dir, fileName(1, indexSuffix)), 1, end)
	if err != nil {
		t.Fatalf("the index of the tail: %v", err)
	}
	_ = stored.Close()
	readable := func(records int) {
		t.Helper()
		l, err := OpenReadOnly(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		n := 0
		for _, err := range l.ReadStream(t.Context(), storetest.Pod("job-a", 1).Stream, 0, store.Forward) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != records {
			t.Errorf("%d records of the stream, want %d", n, records)
		}
		if l.files[0].stored == nil && records == 20 {
			t.Error("the stored index was not used")
		}
	}
	readable(20)

	again, err := open(dir, store.Options{}, system)
	if err != nil {
		t.Fatal(err)
	}
	w = storetest.NewWriter(t, again)
	w.Durable(storetest.Pod("job-a", 2))
	index, err := os.ReadFile(filepath.Join(dir, fileName(1, indexSuffix)))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, fileName(1, indexSuffix)), index, 0o600); err != nil { // as after a crash
		t.Fatal(err)
	}
	readable(21)
}

// TestAfterACrashLittleIsIndexed: the index of the tail is stored now and then. After a kill a reader completes it.
func TestAfterACrashLittleIsIndexed(t *testing.T) {
	log, w := openTest(t, store.Options{}, system)
	items := make([]storetest.Item, 4096)
	for i := range items {
		items[i] = storetest.Pod(types.UID(fmt.Sprint("job-", i%100)), i)
	}
	var last store.Commit
	for range indexEvery/len(items) + 3 {
		last = log.Append(w.Batch(items...), false)
	}
	<-last.Done()
	log.background.Wait()
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(log.dir)); err != nil {
		t.Fatal(err)
	}
	l, err := OpenReadOnly(copied)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, head := l.files[0], l.Head()
	if _, from := f.indexed(head.Sequence); from < indexEvery {
		t.Errorf("records from %d on are to be indexed, of %d", from, head.Sequence)
	}
	stream := items[7].Stream
	n := 0
	for r, err := range l.ReadStream(t.Context(), stream, 0, store.Forward) {
		if n++; err != nil || r.Stream != stream {
			t.Fatal(r.Sequence, err)
		}
	}
	want := 0
	for r, err := range l.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Stream == stream {
			want++
		}
	}
	if n != want || n < indexEvery/100 {
		t.Errorf("%d records of the stream, want %d", n, want)
	}
}

// TestTheIndexOfTheTailIsThatOfItsRecords, whatever index is stored when the log is opened to write: a whole one, a
// part, or none that can be believed.
func TestTheIndexOfTheTailIsThatOfItsRecords(t *testing.T) {
	log, w := openTest(t, store.Options{}, system)
	path := filepath.Join(log.dir, fileName(1, indexSuffix))
	add := func(from int) {
		for n := from; n < from+40; n++ {
			job, pod := storetest.Job(types.UID(fmt.Sprint("job-", n)), "ns", fmt.Sprint("name-", n%7)), storetest.Pod(types.UID(fmt.Sprint("job-", n/3)), n)
			job.Facts.(*events.JobSeen).Created += events.Time(n * n % 100)
			w.Durable(job, pod)
		}
	}
	add(0)
	log.indexSoFar()
	part, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	add(40)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(whole)
	damaged[1000]++
	cut := log.files[0].memory
	other := streamindex.Encode(cut, store.Head{Sequence: 81, Hash: events.Hash{1}}, cut.Youngest())
	for _, row := range []struct {
		name   string
		stored []byte
		from   events.Sequence // the first record that the stored index lacks
	}{
		{"that of a stop in good order", whole, 162},
		{"one of fewer records", part, 82},
		{"one with a damaged block", damaged, 1},
		{"one of records with another hash", other, 1},
		{"none", nil, 1},
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(log.dir)); err != nil {
			t.Fatal(err)
		}
		own := filepath.Join(dir, fileName(1, indexSuffix))
		if err := os.WriteFile(own, row.stored, 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := open(dir, store.Options{}, system)
		if err != nil {
			t.Fatal(err)
		}
		want := index.New(1)
		for r, err := range again.Read(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			want.AddRecord(&r)
		}
		f, end := again.files[0], again.Head()
		if _, from := f.indexed(end.Sequence); from != row.from {
			t.Errorf("%s: the records from %d on are indexed, want %d", row.name, from, row.from)
		}
		if !bytes.Equal(streamindex.Encode(f.memory, end, f.memory.Youngest()), streamindex.Encode(want, end, want.Youngest())) {
			t.Errorf("%s: the index is not that of the records", row.name)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
