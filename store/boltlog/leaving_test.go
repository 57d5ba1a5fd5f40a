package boltlog

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestAStartBesideAFileThatCannotBeRemoved: a pruned file cannot be removed. Its records stay pruned at later starts,
// however many files have begun since. The log does not count its bytes, so no other file is pruned for them, and no
// later Pruned record lists it again. It is removed as soon as that is possible.
func TestAStartBesideAFileThatCannotBeRemoved(t *testing.T) {
	options := store.Options{RotateBytes: 64 << 10}
	dir, stuck, left := t.TempDir(), "", int64(0)
	effects := system
	effects.remove = func(path string) error {
		if path == stuck {
			return &os.PathError{Op: "remove", Path: path, Err: syscall.EPERM}
		}
		return os.Remove(path)
	}
	start := func() (*Log, *storetest.Writer) {
		t.Helper()
		l, err := open(dir, options, effects)
		if err != nil {
			t.Fatal(err)
		}
		return l, storetest.NewWriter(t, l)
	}
	grow := func(l *Log, w *storetest.Writer, files int) {
		t.Helper()
		for n := 0; n < files; {
			first := l.NextFile()
			w.Durable(storetest.Text("job-a", 3000))
			if l.NextFile() != first {
				n++
			}
		}
	}
	l, w := start()
	w.Create()
	grow(l, w, 4)
	files, err := l.Files()
	if err != nil {
		t.Fatal(err)
	}
	stuck = l.files[0].path
	cut := files[2].First
	facts, err := l.Condemn(t.Context(), cut)
	if err != nil || facts.First != cut {
		t.Fatalf("condemned %+v, %v", facts, err)
	}
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: facts})
	if _, err := l.Prune(t.Context(), cut); !errors.Is(err, syscall.EPERM) {
		t.Fatalf("prune: %v, want that it may not", err)
	}
	left = files[0].Bytes + files[1].Bytes // the file behind it waits, too
	for _, row := range []struct {
		sentence string
		files    int // how many begin before the start
	}{
		{"at once", 0}, {"when another file had begun", 1}, {"when five files had begun", 5},
	} {
		grow(l, w, row.files)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l, w = start()
		if first := l.First(); first != cut {
			t.Errorf("%s: the log begins with record %d, want %d", row.sentence, first, cut)
		}
		if l.leavingBytes.Load() != left {
			t.Errorf("%s: %d bytes are the log's no longer, want %d", row.sentence, l.leavingBytes.Load(), left)
		}
		if p, err := l.Condemn(t.Context(), cut); err != nil || p != nil {
			t.Errorf("%s: condemned again: %+v, %v", row.sentence, p, err)
		}
	}
	was := stuck
	stuck = ""
	if _, err := l.Prune(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(was); !errors.Is(err, os.ErrNotExist) || l.leavingBytes.Load() != 0 {
		t.Errorf("it stays: %v, %d bytes", err, l.leavingBytes.Load())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if l, _ = start(); l.First() != cut {
		t.Errorf("at last the log begins with record %d, want %d", l.First(), cut)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}
