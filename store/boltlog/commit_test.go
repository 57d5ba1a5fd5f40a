package boltlog

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/index"
	"github.com/jobledger/jobledger/store/storetest"
)

func openTest(t testing.TB, options store.Options, effects effects) (*Log, *storetest.Writer) {
	t.Helper()
	l, err := open(t.TempDir(), options, effects)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	w := storetest.NewWriter(t, l)
	w.Create()
	return l, w
}

func TestAnotherWriterIsFencedOff(t *testing.T) {
	spoil := map[string]func(head) head{
		"another term":   func(h head) head { h.term++; return h },
		"another record": func(h head) head { h.Sequence++; return h },
		"another hash":   func(h head) head { h.Hash[0]++; return h },
	}
	for name, spoil := range spoil {
		l, w := openTest(t, store.Options{}, system)
		good := l.Head()
		err := l.tail.db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket(metaBucket).Put(headKey, spoil(l.tail.head).encode())
		})
		if err != nil {
			t.Fatal(err)
		}
		err = storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 1)))
		if !errors.Is(err, store.ErrFailed) || !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: commit %v, want that it is fenced off", name, err)
		}
		if l.Head() != good {
			t.Errorf("%s: the head moved", name)
		}
	}
}

func TestEachOpenForWritingHasItsOwnTerm(t *testing.T) {
	dir := t.TempDir()
	for want := uint64(1); want < 4; want++ {
		l, err := Open(dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.tail.head.term != want || l.Term() != want {
			t.Errorf("terms %d and %d, want %d", l.tail.head.term, l.Term(), want)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFailedCommitEndsTheLog lets the file of the tail fail as a disk does.
func TestFailedCommitEndsTheLog(t *testing.T) {
	var disk *os.File
	effects := system
	effects.openDB = func(path string, mode os.FileMode, o *bbolt.Options) (*bbolt.DB, error) {
		withFile := *o
		withFile.OpenFile = func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
			f, err = os.OpenFile(name, flag, mode)
			disk = f
			return f, err
		}
		return bbolt.Open(path, mode, &withFile)
	}
	l, w := openTest(t, store.Options{}, effects)
	w.Durable(storetest.Pod("job-a", 1))
	good := l.Head()
	if err := l.SetOffset("nats", 1); err != nil {
		t.Fatal(err)
	}
	if err := disk.Close(); err != nil {
		t.Fatal(err)
	}
	commits := []store.Commit{w.Append(true, storetest.Pod("job-a", 2)), w.Append(false, storetest.Pod("job-a", 3))}
	for i, c := range commits {
		if err := storetest.Outcome(t, c); !errors.Is(err, store.ErrFailed) || !errors.Is(err, os.ErrClosed) {
			t.Errorf("commit %d: %v, want ErrFailed with the cause", i, err)
		}
	}
	if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 4))); !errors.Is(err, store.ErrFailed) {
		t.Errorf("commit after the failed one: %v, want ErrFailed", err)
	}
	if err := l.Room(1); !errors.Is(err, store.ErrFailed) {
		t.Errorf("room: %v, want ErrFailed", err)
	}
	if _, err := l.Wait(context.Background(), good.Sequence); !errors.Is(err, store.ErrFailed) {
		t.Errorf("wait: %v, want ErrFailed", err)
	}
	if l.Head() != good {
		t.Error("the head moved")
	}
	if err := l.Close(); !errors.Is(err, store.ErrFailed) {
		t.Errorf("close: %v, want ErrFailed", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	again, err := Open(l.dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.Head() != good {
		t.Errorf("head after opening again %d, want %d", again.Head().Sequence, good.Sequence)
	}
}

// commits counts the commits of a log that is closed.
func commits(t *testing.T, dir string) uint64 {
	t.Helper()
	report, err := Verify(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report.Commits
}

func TestBatchesThatNobodyWaitsForRideTogether(t *testing.T) {
	l, w := openTest(t, store.Options{}, system)
	began := time.Now()
	for n := range 50 { // of 170 bytes: under 64 KiB in all, and under 100 ms
		w.Append(false, storetest.Pod("job-a", n))
	}
	storetest.Await(t, w.Append(true, storetest.Pod("job-a", 50)))
	most := 4 + uint64(time.Since(began)/(100*time.Millisecond))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := commits(t, l.dir); got < 2 || got > most {
		t.Errorf("%d commits for record 1 and 51 batches, want 2", got)
	}
}

func TestOffsetsCauseNoCommit(t *testing.T) {
	l, w := openTest(t, store.Options{}, system)
	for range 20 {
		if err := l.SetOffset("nats", 1); err != nil {
			t.Fatal(err)
		}
	}
	w.Durable(storetest.Pod("job-a", 1))
	l.mu.Lock()
	left := len(l.queue.Offsets())
	l.mu.Unlock()
	if left != 0 {
		t.Error("the offset did not ride with the commit")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := commits(t, l.dir); got != 2 {
		t.Errorf("%d commits for two batches, want 2", got)
	}
}

func TestOptionsAreRefusedInWords(t *testing.T) {
	for _, o := range []store.Options{{RotateBytes: 1}, {RotateBytes: 1 << 40}, {LogID: strings.Repeat("x", 300)}} {
		if _, err := Open(t.TempDir(), o); err == nil {
			t.Errorf("options %+v were taken", o)
		}
	}
}

// TestEmptyTail opens a log whose process died right after a new file was begun.
func TestEmptyTail(t *testing.T) {
	l, w := openTest(t, store.Options{}, system)
	w.Durable(storetest.Pod("job-a", 1))
	if err := l.SetOffset("nats", 2); err != nil {
		t.Fatal(err)
	}
	if err := l.rotate(&work{first: w.Next(), index: index.New(w.Next())}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if report, err := Verify(t.Context(), l.dir, nil); err != nil || report.Files != 2 || report.Records != 2 {
			t.Fatalf("verify: %+v, error %v, want 2 files and 2 records", report, err)
		}
		again, err := Open(l.dir, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if again.NextFile() != 3 || again.Head().Sequence != 2 {
			t.Errorf("next file %d, head %d, want 3 and 2", again.NextFile(), again.Head().Sequence)
		}
		if at, err := again.Offset("nats"); at != 2 || err != nil {
			t.Errorf("offset %d, error %v, want 2", at, err)
		}
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(l.dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	storetest.NewWriter(t, again).Durable(storetest.Pod("job-a", 2))
}
