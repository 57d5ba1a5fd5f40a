package boltlog

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestAStopStoresTheIndexOfTheTail: who reads a log that was closed in good order reads no record to find a stream. After a crash the
// index is of fewer records, and is not used.
func TestAStopStoresTheIndexOfTheTail(t *testing.T) {
	log, w := openTest(t, Options{}, system)
	for range 20 {
		w.Durable(storetest.Pod("job-a", 1), storetest.Pod("job-b", 1))
	}
	dir, end := log.dir, log.Head()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	stored, err := openStoredIndex(filepath.Join(dir, fileName(1, indexSuffix)), 1, end)
	if err != nil {
		t.Fatalf("the index of the tail: %v", err)
	}
	_ = stored.close()
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

	again, err := open(dir, Options{}, system)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := again.files[0].memory.Youngest(); !ok {
		t.Error("how young the objects of the tail are was forgotten")
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

// TestAfterACrashLittleIsIndexed: the index of the tail is stored now and then, and a reader of what a killed process left completes it.
func TestAfterACrashLittleIsIndexed(t *testing.T) {
	log, w := openTest(t, Options{}, system)
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
