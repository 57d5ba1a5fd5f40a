package restore_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/storetest"
)

var small = store.Options{RotateBytes: 64 << 10}

func openLog(t testing.TB, dir string, options store.Options) *boltlog.Log {
	t.Helper()
	log, err := boltlog.Open(dir, options)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func closeLog(t testing.TB, log *boltlog.Log) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// grow appends batches of some records to a log, and packs its sealed files.
func grow(t testing.TB, log *boltlog.Log, batches int) {
	t.Helper()
	w := storetest.NewWriter(t, log)
	if log.Head().Sequence == 0 {
		w.Create()
	}
	for n := range batches {
		w.Append(false, storetest.Pod("job-a", n), storetest.Pod("job-b", n), storetest.Text("job-c", 300))
	}
	w.Durable(storetest.Pod("job-a", batches))
	packAll(t, log)
}

// newLog makes a log of some files, closed.
func newLog(t testing.TB, batches int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := openLog(t, dir, small)
	grow(t, log, batches)
	closeLog(t, log)
	return dir
}

func grown(t testing.TB, dir string, batches int) {
	t.Helper()
	log := openLog(t, dir, small)
	grow(t, log, batches)
	closeLog(t, log)
}

func copyDir(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copied")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func backUp(t testing.TB, dir string, place copylog.Place) backup.Result {
	t.Helper()
	result, err := backup.Run(t.Context(), &backup.Config{Dir: dir, Place: place})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func restoreInto(ctx context.Context, place copylog.Place, dir string, change func(*restore.Config)) (restore.Result, error) {
	config := &restore.Config{Place: place, Dir: dir}
	if change != nil {
		change(config)
	}
	plan, err := restore.Make(ctx, config)
	if err != nil {
		return restore.Result{}, err
	}
	return plan.Run(ctx)
}

// restored restores a whole copy.
func restored(t testing.TB, place copylog.Place) (dir string, result restore.Result) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "restored")
	result, err := restoreInto(t.Context(), place, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dir, result
}

// stored returns the records of a log in stored form, to its end.
func stored(t testing.TB, dir string) (all []string) {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // it was only read
	for r, err := range log.Read(t.Context(), 0) {
		if errors.Is(err, store.ErrLost) {
			break // it says that it had more
		}
		if err != nil {
			t.Fatal(err)
		}
		one, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(one))
	}
	return all
}

// isLog checks that a directory has the records of another, or the first of them, without damage.
func isLog(t testing.TB, dir, of string) {
	t.Helper()
	report, err := boltlog.Verify(t.Context(), dir, nil)
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	want, got := stored(t, of), stored(t, dir)
	if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || uint64(len(got)) != report.Records {
		t.Fatalf("%d records are restored, and not the first of the %d", len(got), len(want))
	}
}

// isWhole is isLog for all records.
func isWhole(t testing.TB, dir, of string) {
	t.Helper()
	isLog(t, dir, of)
	if a, b := len(stored(t, dir)), len(stored(t, of)); a != b {
		t.Fatalf("%d of %d records are restored", a, b)
	}
}

// asked is an open log, with the answers of its port.
type asked struct{ log *boltlog.Log }

func (a asked) Head(context.Context) (events.Identity, store.Head, error) {
	id, head := a.log.Durable()
	return id, head, nil
}

func (a asked) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return a.log.Read(ctx, from)
}

// objects returns the bytes of all objects of a copy in a directory.
func objects(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == ".lock" {
			return err
		}
		content, err := os.ReadFile(path)
		name, relative := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(content)
		return errors.Join(err, relative)
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// clock is a clock of a test.
func clock(at time.Time) func() time.Time { return func() time.Time { return at } }
