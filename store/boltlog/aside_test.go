package boltlog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/storetest"
)

// longLog writes a log of several files, whose batches have three records, and closes it.
func longLog(t *testing.T, dir string) (head store.Head) {
	t.Helper()
	log, err := Open(dir, store.Options{RotateBytes: 32 << 10})
	if err != nil {
		t.Fatal(err)
	}
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 40 {
		w.Durable(storetest.Pod("job-a", 2*n), storetest.Pod("job-a", 2*n+1), storetest.Text("job-b", 3000))
		if err := log.SetOffset("one", w.Next()-1); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := log.Key(); err != nil {
		t.Fatal(err)
	}
	head = log.Head()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return head
}

// recordsOf are the records of a log that no process writes, as they are stored, from the first one that it keeps.
func recordsOf(t *testing.T, dir string) (all [][]byte, first events.Sequence) {
	t.Helper()
	log, err := OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	for r, err := range log.Read(t.Context(), log.First()) {
		if err != nil {
			t.Fatal(err)
		}
		one, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all, log.First()
}

// TestSetAside: wherever the end begins, the log has the whole batches before it and is sound, and the branch has all
// that was cut off. The log goes on in other records then.
func TestSetAside(t *testing.T) {
	head := longLog(t, t.TempDir())
	for through := events.Sequence(0); through < head.Sequence; through += 7 {
		dir := t.TempDir()
		longLog(t, dir)
		whole, _ := recordsOf(t, dir)
		if err := SetAside(t.Context(), dir, through, "branch-1-9"); err != nil {
			t.Fatalf("behind record %d: %v", through, err)
		}
		cut, first := recordsOf(t, filepath.Join(dir, "branch-1-9"))
		if got := int(first) - 1 + len(cut); got != len(whole) || first > through+1 {
			t.Errorf("behind record %d: the branch has %d records from %d on", through, len(cut), first)
		}
		if !equalRecords(cut, whole[first-1:]) {
			t.Errorf("behind record %d: the branch has other records", through)
		}
		if through == 0 {
			if there, err := Exists(dir); err != nil || there {
				t.Errorf("a log remains: %v", err)
			}
			continue
		}
		left, _ := recordsOf(t, dir)
		want := whole[:1+(through-1)/3*3] // record 1 is a batch, then three each
		if !equalRecords(left, want) {
			t.Errorf("behind record %d: %d records remain, want %d", through, len(left), len(want))
		}
		writesOn(t, dir, events.Sequence(len(want)))
		if report, err := Verify(t.Context(), dir, nil); err != nil || len(report.Notes) != 1 {
			t.Errorf("behind record %d: %v, notes %q", through, err, report.Notes)
		}
	}
}

func equalRecords(a, b [][]byte) bool {
	return len(a) == len(b) && bytes.Equal(bytes.Join(a, nil), bytes.Join(b, nil))
}

// writesOn opens the log, which ends with that record, and writes more.
func writesOn(t *testing.T, dir string, through events.Sequence) {
	t.Helper()
	log, err := Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}()
	if log.Head().Sequence != through {
		t.Errorf("it ends with record %d, want %d", log.Head().Sequence, through)
	}
	if offset, err := log.Offset("one"); err != nil || offset > through {
		t.Errorf("a consumer is at record %d of %d: %v", offset, through, err)
	}
	storetest.NewWriter(t, log).Durable(storetest.Pod("job-d", 1))
}

// TestSetAsideAfterACrash: after each step the log is not opened, and the same call completes it.
func TestSetAsideAfterACrash(t *testing.T) {
	const through, folder = 50, "branch-1-51"
	for _, crash := range []struct {
		after string
		steps func(a *aside) error
	}{
		{"the mark", func(*aside) error { return nil }},
		{"the links", func(a *aside) error { return a.keep() }},
		{"the removal", func(a *aside) error { return errors.Join(a.keep(), a.leave()) }},
		{"a half of the file", func(a *aside) error {
			err := errors.Join(a.keep(), a.leave())
			path := filepath.Join(a.dir, FileName(a.first)) // it gets the name of a file of its own
			return errors.Join(err, os.Remove(path), os.WriteFile(path, []byte("half"), 0o600))
		}},
		{"a failure of the file", func(a *aside) error {
			err := errors.Join(a.keep(), a.leave())
			return errors.Join(err, os.Remove(filepath.Join(a.dir, FileName(a.first))))
		}},
		{"the whole file", func(a *aside) error {
			return errors.Join(a.keep(), a.leave(), a.write(t.Context()))
		}},
	} {
		dir := t.TempDir()
		longLog(t, dir)
		whole, _ := recordsOf(t, dir)
		if err := BeginRestore(dir, asideNote+"50 "+folder); err != nil {
			t.Fatal(err)
		}
		if err := crash.steps(&aside{dir: dir, branch: filepath.Join(dir, folder), through: through}); err != nil {
			t.Fatalf("until %s: %v", crash.after, err)
		}
		if _, err := Open(dir, store.Options{}); !errors.Is(err, ErrRestoring) {
			t.Errorf("after %s the log is opened: %v", crash.after, err)
		}
		at, name, is, err := Aside(dir)
		if err != nil || !is || at != through || name != folder {
			t.Fatalf("after %s: %d, %q, %t, %v", crash.after, at, name, is, err)
		}
		if err := SetAside(t.Context(), dir, at, name); err != nil {
			t.Fatalf("after %s: %v", crash.after, err)
		}
		left, _ := recordsOf(t, dir)
		cut, first := recordsOf(t, filepath.Join(dir, folder))
		if !equalRecords(left, whole[:49]) || !equalRecords(cut, whole[first-1:]) {
			t.Errorf("after %s: %d records remain, and %d are in the branch", crash.after, len(left), len(cut))
		}
		if _, _, is, err := Aside(dir); is || err != nil {
			t.Errorf("after %s it has not ended: %v", crash.after, err)
		}
	}
}

// TestSetAsideBesideAWriter: nothing changes while a process has the log open.
func TestSetAsideBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	longLog(t, dir)
	log, err := Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	if err := SetAside(t.Context(), dir, 10, "branch-1-11"); !errors.Is(err, store.ErrHeld) {
		t.Errorf("it says %v", err)
	}
	if _, err := Restoring(dir); err == nil {
		t.Error("it is marked")
	}
}
