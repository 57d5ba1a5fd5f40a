package boltlog_test

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// newerWrote makes a log with a file of a newer program. The file needs a newer format, so the rest of it may have any
// form.
func newerWrote(t *testing.T, dir string, version byte) {
	t.Helper()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	w.Durable(storetest.Pod("job-a", 1))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(filepath.Join(dir, "00000000000000000001.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	block := binary.AppendUvarint([]byte{9, 4, 1}, 6) // format, rules, fold
	block = append(append(append(block, "v9.0.0"...), 6), "v9.1.0"...)
	block = append(block, "and more"...)
	value := append(append([]byte{version, byte(len(block))}, block...), "of another form"...)
	value = binary.LittleEndian.AppendUint32(value, crc32.Checksum(value, crc32.MakeTable(crc32.Castagnoli)))
	err = db.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("begin"), value) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// wantNewer checks that an error says which program is needed, and that it reports no damage.
func wantNewer(t *testing.T, who string, err error) {
	t.Helper()
	if !errors.Is(err, events.ErrNewer) || errors.Is(err, store.ErrCorrupt) {
		t.Errorf("%s: %v, want ErrNewer", who, err)
		return
	}
	for _, words := range []string{"written by jobledger v9.1.0", "needs at least reader v9.0.0 (format 9", "use v9.0.0 or a newer one"} {
		if !strings.Contains(err.Error(), words) {
			t.Errorf("%s is told %q, without %q", who, err, words)
		}
	}
}

// TestALogThatNeedsANewerFormatIsNotCalledDamaged: every reader and writer refuses such a log and says why.
func TestALogThatNeedsANewerFormatIsNotCalledDamaged(t *testing.T) {
	for _, version := range []byte{3, 4} {
		dir := t.TempDir()
		newerWrote(t, dir, version)
		_, err := boltlog.Open(dir, small)
		wantNewer(t, "a writer", err)
		_, err = boltlog.OpenReadOnly(dir)
		wantNewer(t, "a reader", err)
		_, err = boltlog.Verify(t.Context(), dir, nil)
		wantNewer(t, "verify", err)
	}
}

// TestWhoFoldsNeedsTheFold: a log that needs newer rules or a newer fold keeps out programs that decide or fold. A
// program that only prints can read it.
func TestWhoFoldsNeedsTheFold(t *testing.T) {
	for _, least := range []events.ReaderVersion{{Format: 1, Fold: 9}, {Format: 1, Rules: 9}} {
		dir := t.TempDir()
		if err := openLog(t, dir, store.Options{Least: least}).Close(); err != nil {
			t.Fatal(err)
		}
		own := events.ReaderVersion{Format: 1, Rules: 4, Fold: 1}
		if _, err := boltlog.Open(dir, store.Options{Reader: own}); !errors.Is(err, events.ErrNewer) {
			t.Errorf("needs %v: a controller opens it: %v", least, err)
		}
		log, err := boltlog.OpenReadOnly(dir)
		if err != nil {
			t.Fatalf("needs %v: %v", least, err)
		}
		if err := log.Readable(events.ReaderVersion{Fold: 1}); errors.Is(err, events.ErrNewer) != (least.Fold > 1) {
			t.Errorf("needs %v: who folds is told %v", least, err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALogIsRaisedBeforeItIsWritten: a newer program goes on with an older program's file, and the log keeps the older
// program out from then on. A third program that may still write the log does not lower what the log needs.
func TestALogIsRaisedBeforeItIsWritten(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	storetest.NewWriter(t, log).Create()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	newer := store.Options{Reader: events.ReaderVersion{Fold: 3, Program: "v3"}, Least: events.ReaderVersion{Fold: 2, Program: "v2"}}
	if err := openLog(t, dir, newer).Close(); err != nil {
		t.Fatal(err)
	}
	if err := openLog(t, dir, store.Options{Reader: events.ReaderVersion{Fold: 2}, Least: events.ReaderVersion{Fold: 1}}).Close(); err != nil {
		t.Fatal(err)
	}
	_, err := boltlog.Open(dir, store.Options{Reader: events.ReaderVersion{Fold: 1}})
	if !errors.Is(err, events.ErrNewer) || !strings.Contains(err.Error(), "written by jobledger v3, which needs at least reader v2") {
		t.Errorf("the old program is told %v", err)
	}
}

// TestASnapshotSaysWhatItNeeds: a snapshot that needs a newer fold is not read, and is not called damaged.
func TestASnapshotSaysWhatItNeeds(t *testing.T) {
	dir, newer := t.TempDir(), t.TempDir()
	options := store.Options{LogID: "0f0f"}
	for _, d := range []string{dir, newer} {
		if d == newer {
			options.Reader, options.Least = events.ReaderVersion{Fold: 9, Program: "v9.1.0"}, events.ReaderVersion{Fold: 9}
		}
		log := openLog(t, d, options)
		storetest.NewWriter(t, log).Create()
		if err := log.SaveSnapshot(t.Context(), store.Snapshot{Identity: log.Identity(), Head: log.Head()}); err != nil {
			t.Fatal(err)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	name := "00000000000000000001.snap"
	content, err := os.ReadFile(filepath.Join(newer, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
	log := openLog(t, dir, store.Options{Reader: events.ReaderVersion{Fold: 1}})
	if _, _, err := log.LoadSnapshot(t.Context()); !errors.Is(err, events.ErrNewer) {
		t.Errorf("the snapshot is loaded: %v", err)
	}
}

// TestAnUnknownCriticalKindIsFoundBehindASnapshot: a controller that folds from a snapshot on would not see such a
// record, so opening the log to write finds it.
func TestAnUnknownCriticalKindIsFoundBehindASnapshot(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	b := w.Batch(storetest.Item{Stream: events.Controller, Kind: 4711, Facts: &events.Unknown{Bytes: []byte{8, 1}}})
	b.Records[0].Critical = true
	storetest.Await(t, log.Append(b, true))
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := boltlog.Open(dir, small)
	if !errors.Is(err, events.ErrNewer) || !strings.Contains(err.Error(), "record 2 is of Kind(4711)") {
		t.Errorf("it is opened to write: %v", err)
	}
	reader, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatalf("who prints is refused: %v", err)
	}
	defer reader.Close()
}
