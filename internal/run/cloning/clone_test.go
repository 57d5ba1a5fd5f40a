package cloning_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/cloning"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

var small = store.Options{RotateBytes: 32 << 10}

// newLog makes a log of some files, with a key and with what ties it to others, closed.
func newLog(t testing.TB, batches int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	log := opened(t, dir)
	w := storetest.NewWriter(t, log)
	w.Create()
	grow(w, batches)
	if _, _, err := log.Key(); err != nil {
		t.Fatal(err)
	}
	closed(t, log)
	for _, name := range []string{"REPLICA", "FOLLOWS"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func opened(t testing.TB, dir string) *boltlog.Log {
	t.Helper()
	log, err := boltlog.Open(dir, small)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func closed(t testing.TB, log *boltlog.Log) {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

func grow(w *storetest.Writer, batches int) {
	for n := range batches {
		w.Append(false, storetest.Pod("job-a", n), storetest.Pod("job-b", n), storetest.Text("job-c", 300))
	}
	w.Durable(storetest.Pod("job-a", batches))
}

// from opens the log in dir, which no process writes.
func from(dir string) func(context.Context) (*cloning.Source, error) {
	return func(ctx context.Context) (*cloning.Source, error) { return cloning.OfDirectory(ctx, dir, nil) }
}

func clone(t testing.TB, to string, of func(context.Context) (*cloning.Source, error)) (store.Report, error) {
	t.Helper()
	return cloning.Run(t.Context(), &cloning.Config{Open: of, To: to})
}

// stored returns all records of the log in dir.
func stored(t testing.TB, dir string) (all []string) {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range log.Read(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		one, err := events.AppendRecord(nil, &r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(one))
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// refused checks that nothing takes what is in dir for a log.
func refused(t testing.TB, dir string) {
	t.Helper()
	_, err1 := boltlog.OpenReadOnly(dir)
	_, err2 := boltlog.Open(dir, store.Options{})
	_, err3 := boltlog.Verify(t.Context(), dir, nil)
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, boltlog.ErrRestoring) {
			t.Errorf("what is in %s is opened with %v", dir, err)
		}
	}
}

// TestACloneIsTheLog: with the same records and files, and nothing that ties it to others. It goes on by itself.
func TestACloneIsTheLog(t *testing.T) {
	dir := newLog(t, 300)
	to := filepath.Join(t.TempDir(), "new", "clone")
	var steps []cloning.Step
	key, err := boltlog.ReadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	report, err := cloning.Run(t.Context(), &cloning.Config{
		Open: from(dir), To: to, Key: &key, Tell: func(s cloning.Step) { steps = append(steps, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	want, err := boltlog.Verify(t.Context(), to, nil)
	if err != nil || want.Head != report.Head || want.Identity != report.Identity || len(steps) < 5 {
		t.Errorf("the clone ends with %+v, %v; Run says %+v, in %d steps", want.Head, err, report.Head, len(steps))
	}
	if !slices.Equal(stored(t, to), stored(t, dir)) {
		t.Error("the clone has other records")
	}
	if has, err := boltlog.ReadKey(to); err != nil || has != key {
		t.Errorf("the clone's key is %v, %v", has.ID(), err)
	}
	for _, name := range []string{"REPLICA", "FOLLOWS", "RESTORING"} {
		if _, err := os.Stat(filepath.Join(to, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s in the clone: %v", name, err)
		}
	}
	log := opened(t, to)
	w := storetest.NewWriter(t, log)
	grow(w, 100)
	closed(t, log)
	if _, err := boltlog.Verify(t.Context(), to, nil, want.Head); err != nil {
		t.Error(err)
	}
	if _, err := clone(t, to, from(dir)); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a log is written over: %v", err)
	}
}

// TestWhatIsNotCloned: a directory with something else, no log, and a log without records. A dry run writes nothing.
func TestWhatIsNotCloned(t *testing.T) {
	dir, to := newLog(t, 10), t.TempDir()
	dry := filepath.Join(to, "dry")
	if _, err := cloning.Run(t.Context(), &cloning.Config{Open: from(dir), To: dry, DryRun: true}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dry); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a dry run has left %v", err)
	}
	other := filepath.Join(to, "other")
	if err := errors.Join(os.Mkdir(other, 0o700), os.WriteFile(filepath.Join(other, "mine"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := clone(t, other, from(dir)); err == nil || !strings.Contains(err.Error(), "is not empty (mine)") {
		t.Errorf("into a directory with a file: %v", err)
	}
	if _, err := clone(t, dry, from(t.TempDir())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no log: %v", err)
	}
	empty := t.TempDir()
	closed(t, opened(t, empty))
	if _, err := clone(t, dry, from(empty)); err == nil || !strings.Contains(err.Error(), "no record yet") {
		t.Errorf("of a log without records: %v", err)
	}
}

// live is a controller that writes the log in the same process.
type live struct{ *boltlog.Log }

func (l live) Head(context.Context) (events.Identity, store.Head, error) {
	id, head := l.Durable()
	return id, head, nil
}

func (l live) Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error] {
	return l.Log.Read(ctx, from)
}

// TestACloneBesideAWriter: before each file is copied, the log grows by more files. The clone ends where the log did, at
// least, when it began.
func TestACloneBesideAWriter(t *testing.T) {
	dir := t.TempDir()
	log := opened(t, dir)
	defer closed(t, log)
	w := storetest.NewWriter(t, log)
	w.Create()
	grow(w, 200)
	began := log.Head()
	of := func(ctx context.Context) (*cloning.Source, error) {
		s, err := cloning.OfDirectory(ctx, dir, live{log})
		if err != nil {
			return nil, err
		}
		file := s.File
		s.File = func(first events.Sequence) store.Fetch {
			grow(w, 60)
			return file(first)
		}
		return s, nil
	}
	to := filepath.Join(t.TempDir(), "clone")
	report, err := clone(t, to, of)
	if err != nil || report.Head != began {
		t.Fatalf("the clone ends with %+v, %v; want %+v", report.Head, err, began)
	}
	if all := stored(t, to); len(all) != int(began.Sequence) {
		t.Errorf("it has %d records", len(all))
	}
	if head := log.Head(); head.Sequence <= began.Sequence {
		t.Error("the log has not grown")
	}
}

// TestACloneOfWhatGoes: files that are deleted before they were copied are looked at again.
func TestACloneOfWhatGoes(t *testing.T) {
	dir := newLog(t, 300)
	tries := 0
	of := func(ctx context.Context) (*cloning.Source, error) {
		s, err := cloning.OfDirectory(ctx, dir, nil)
		if err != nil {
			return nil, err
		}
		file := s.File
		s.File = func(first events.Sequence) store.Fetch {
			if tries++; tries == 3 {
				return func(context.Context, io.Writer) error { return fs.ErrNotExist }
			}
			return file(first)
		}
		return s, nil
	}
	to := filepath.Join(t.TempDir(), "clone")
	if _, err := clone(t, to, of); err != nil || tries < 4 {
		t.Fatal(tries, err)
	}
	if !slices.Equal(stored(t, to), stored(t, dir)) {
		t.Error("the clone has other records")
	}
}

// TestADamagedLogIsNotCloned: a byte of each file is another one. What is there is no log then, and becomes one when the
// source is whole again.
func TestADamagedLogIsNotCloned(t *testing.T) {
	dir := newLog(t, 60)
	firsts, err := boltlog.Firsts(dir)
	if err != nil || len(firsts) < 3 {
		t.Fatal(firsts, err)
	}
	for _, first := range firsts {
		path := filepath.Join(dir, boltlog.FileName(first))
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bad := slices.Clone(whole)
		at := strings.Index(string(bad), "job-") // in a record
		if at < 0 {
			t.Fatalf("%s: no record is found", path)
		}
		bad[at] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "clone")
		if _, err := clone(t, to, from(dir)); !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrDiverged) {
			t.Errorf("%s is damaged: %v", path, err)
		}
		refused(t, to)
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := clone(t, to, from(dir)); err != nil {
			t.Error(err)
		}
	}
}

// TestACloneOfAnotherHistory: the source does not have a head that others have told.
func TestACloneOfAnotherHistory(t *testing.T) {
	dir := newLog(t, 100)
	of := func(ctx context.Context) (*cloning.Source, error) {
		s, err := cloning.OfDirectory(ctx, dir, nil)
		if err == nil {
			s.Has = append(s.Has, store.Head{Sequence: 50, Hash: events.Hash{1}})
		}
		return s, err
	}
	to := filepath.Join(t.TempDir(), "clone")
	if _, err := clone(t, to, of); err == nil || !strings.Contains(err.Error(), "record 50") {
		t.Errorf("it is cloned: %v", err)
	}
	refused(t, to)
}
