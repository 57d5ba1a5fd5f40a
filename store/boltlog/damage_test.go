package boltlog_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// written makes a log of several files in a new directory, with a snapshot, closes it, and returns its records.
func written(t *testing.T, batches int) (dir string, all []events.Record) {
	t.Helper()
	dir = t.TempDir()
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range batches {
		items := []storetest.Item{storetest.Pod("job-a", n), storetest.Pod("job-b", n)}
		if n%10 == 0 {
			items = append(items, storetest.Text("job-c", 900+n*7), storetest.Job("job-d", "default", "demo"))
		}
		if n == batches/2 {
			items = append(items, storetest.Text("job-c", 30_000)) // records larger than a page
		}
		if n%3 == 0 {
			w.Durable(items...)
		} else {
			w.Append(false, items...)
		}
	}
	w.Durable(storetest.Pod("job-a", batches))
	if err := log.SaveSnapshot(context.Background(), store.Snapshot{Identity: log.Identity(), Head: log.Head()}); err != nil {
		t.Fatal(err)
	}
	all = records(t, log)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, all
}

func records(t *testing.T, log store.Reader) []events.Record {
	t.Helper()
	var all []events.Record
	for r, err := range log.Read(context.Background(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// outcome is the verdict of a reader and of Verify on a damaged log.
type outcome int

const (
	harmless outcome = iota // all records are there and verify
	detected                // ErrCorrupt that names a sequence
)

// judge reads the damaged log in every way. It fails the test if one of them gives wrong data or another error.
func judge(t *testing.T, what, dir string, want []events.Record) outcome {
	t.Helper()
	report, err := boltlog.Verify(context.Background(), dir, nil)
	verified := corrupt(t, what+": verify", err)
	if verified == harmless && (report.Records != uint64(len(want)) || report.Head.Sequence != want[len(want)-1].Sequence) {
		t.Fatalf("%s: verify finds %d records and head %d, and no error", what, report.Records, report.Head.Sequence)
	}
	var read outcome
	if log, err := boltlog.OpenReadOnly(dir); err != nil {
		read = corrupt(t, what+": open to read", err)
	} else {
		read = readAll(t, what, log, want)
		if err := log.Close(); err != nil {
			t.Fatalf("%s: close: %v", what, err)
		}
	}
	if read == detected && verified == harmless {
		t.Fatalf("%s: a reader finds damage that verify does not", what)
	}
	if log, err := boltlog.Open(dir, small); err != nil {
		if corrupt(t, what+": open to write", err) == detected && verified == harmless {
			t.Fatalf("%s: opening to write finds damage that verify does not: %v", what, err)
		}
	} else {
		readAll(t, what, log, want)
		if err := log.Close(); err != nil {
			t.Fatalf("%s: close: %v", what, err)
		}
	}
	return verified
}

func corrupt(t *testing.T, what string, err error) outcome {
	t.Helper()
	if err == nil {
		return harmless
	}
	var c *store.CorruptError
	if !errors.Is(err, store.ErrCorrupt) || !errors.As(err, &c) || c.At == 0 {
		t.Fatalf("%s: %v, want ErrCorrupt that names a sequence", what, err)
	}
	return detected
}

// readAll reads records and streams. All records before an error must be as they were written.
func readAll(t *testing.T, what string, log store.Reader, want []events.Record) outcome {
	t.Helper()
	result := harmless
	n := 0
	for r, err := range log.Read(context.Background(), 0) {
		if err != nil {
			result = corrupt(t, what+": read", err)
			break
		}
		if n >= len(want) || !reflect.DeepEqual(r, want[n]) {
			t.Fatalf("%s: record %d is not what was written", what, r.Sequence)
		}
		n++
	}
	if result == harmless && n != len(want) {
		t.Fatalf("%s: read gives %d of %d records, and no error", what, n, len(want))
	}
	s := events.JobStream("job-c")
	var stream []events.Record
	for _, r := range want {
		if r.Stream == s {
			stream = append(stream, r)
		}
	}
	for _, dir := range []store.Direction{store.Forward, store.Backward} {
		left := slices.Clone(stream)
		if dir == store.Backward {
			slices.Reverse(left)
		}
		ended := false
		for r, err := range log.ReadStream(context.Background(), s, 0, dir) {
			if err != nil {
				ended = corrupt(t, what+": read stream", err) == detected
				break
			}
			if len(left) == 0 || !reflect.DeepEqual(r, left[0]) {
				t.Fatalf("%s: record %d of the stream is not what was written", what, r.Sequence)
			}
			left = left[1:]
		}
		if !ended && len(left) > 0 {
			t.Fatalf("%s: %d records of the stream are missing, and no error", what, len(left))
		}
	}
	return result
}

// copyDir copies a log, so that damage and repairs do not change the original.
func copyDir(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func flip(t *testing.T, path string, at int64, mask byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [1]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		t.Fatal(err)
	}
	b[0] ^= mask
	if _, err := f.WriteAt(b[:], at); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, dir, suffix string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil || len(paths) == 0 {
		t.Fatalf("files *%s in %s: %v, error %v", suffix, dir, paths, err)
	}
	return paths
}

// TestFlippedByteIsFoundOrHarmless: the error names the first bad record, and the records before it can be read (design
// §2, invariant 10).
func TestFlippedByteIsFoundOrHarmless(t *testing.T) {
	dir, all := written(t, 400)
	random := rand.New(rand.NewPCG(1, 2))
	var counts [2]int
	rounds := 250 / effort.Step(5)
	for range rounds {
		c := copyDir(t, dir)
		paths := files(t, c, ".db")
		path := paths[random.IntN(len(paths))]
		at := random.Int64N(used(t, path))
		mask := byte(1 << random.IntN(8))
		what := "flip " + filepath.Base(path) + " at " + itoa(at)
		flip(t, path, at, mask)
		counts[judge(t, what, c, all)]++
		if err := os.RemoveAll(c); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d flips were harmless, %d were found", counts[harmless], counts[detected])
	if counts[detected] < rounds/3 {
		t.Errorf("only %d of %d flips were found: the test does not hit the records", counts[detected], rounds)
	}
}

// TestFlippedByteInStructure flips bytes that bbolt trusts: those of the meta pages, and some of the header and
// elements of each other page.
func TestFlippedByteInStructure(t *testing.T) {
	dir, all := written(t, 120)
	random := rand.New(rand.NewPCG(3, 4))
	paths := files(t, dir, ".db")
	tail := filepath.Base(paths[len(paths)-1])
	var counts [2]int
	for page := range used(t, paths[len(paths)-1]) / pageSize {
		for i := range int64(80) {
			if page >= 2 && random.IntN(12) > 0 || !effort.IsWhole() && random.IntN(4) > 0 {
				continue // in CI every byte of the meta pages, some of each other page
			}
			c := copyDir(t, dir)
			flip(t, filepath.Join(c, tail), page*pageSize+i, byte(1<<random.IntN(8)))
			counts[judge(t, "flip page "+itoa(page)+" at "+itoa(i), c, all)]++
			if err := os.RemoveAll(c); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d flips were harmless, %d were found", counts[harmless], counts[detected])
	if counts[detected] == 0 || counts[harmless] == 0 {
		t.Error("the flips were all found or all harmless: the test does not hit both")
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

var pageSize = int64(os.Getpagesize())

// used returns about how much of a file is in use; the rest is zeros, allocated ahead.
func used(t *testing.T, path string) int64 {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return int64(len(strings.TrimRight(string(content), "\x00")))
}

func TestDamagedSideFilesAreHarmless(t *testing.T) {
	dir, all := written(t, 400)
	for _, suffix := range []string{".idx", ".snap", "CLOSED"} {
		for _, damage := range []string{"flipped", "truncated", "empty", "removed"} {
			c := copyDir(t, dir)
			for _, path := range files(t, c, suffix) {
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				switch damage {
				case "flipped":
					flip(t, path, info.Size()/2, 4)
				case "truncated":
					err = os.Truncate(path, info.Size()-5)
				case "empty":
					err = os.Truncate(path, 0)
				case "removed":
					err = os.Remove(path)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if judge(t, suffix+" "+damage, c, all) != harmless {
				t.Errorf("%s %s: reported as corrupt", suffix, damage)
			}
		}
	}
}

func TestTruncatedFileIsFound(t *testing.T) {
	dir, all := written(t, 400)
	random := rand.New(rand.NewPCG(5, 6))
	for _, path := range files(t, dir, ".db") {
		end := used(t, path)
		for _, size := range []int64{0, 100, pageSize, 2 * pageSize, end / 3, end / 2, end - 1, end - 1000, random.Int64N(end)} {
			c := copyDir(t, dir)
			if err := os.Truncate(filepath.Join(c, filepath.Base(path)), size); err != nil {
				t.Fatal(err)
			}
			if judge(t, "cut "+filepath.Base(path)+" to "+itoa(size), c, all) != detected {
				t.Errorf("%s cut to %d of %d bytes: not found", filepath.Base(path), size, end)
			}
		}
	}
}

func TestMissingFileIsFound(t *testing.T) {
	dir, all := written(t, 400)
	for i, path := range files(t, dir, ".db") {
		c := copyDir(t, dir)
		if err := os.Remove(filepath.Join(c, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if judge(t, "without "+filepath.Base(path), c, all) != detected {
				t.Errorf("without %s: not found", filepath.Base(path))
			}
			continue
		}
		// Without its first file a log looks pruned; only Verify can tell.
		if _, err := boltlog.Verify(context.Background(), c, nil); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("without the first file: verify says %v, want ErrCorrupt", err)
		}
	}
}

// TestFileCutWhileItIsOpen removes pages under bbolt's mapping. That causes a memory fault, which must not end the
// process.
func TestFileCutWhileItIsOpen(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, store.Options{})
	w := storetest.NewWriter(t, log)
	w.Create()
	for n := range 200 {
		w.Append(false, storetest.Text("job-a", 1000), storetest.Pod("job-b", n))
	}
	w.Durable(storetest.Pod("job-b", 1))
	if err := os.Truncate(files(t, dir, ".db")[0], 3*pageSize); err != nil {
		t.Fatal(err)
	}
	var failed error
	for _, err := range log.Read(t.Context(), 0) {
		failed = err
	}
	if corrupt(t, "read", failed) != detected {
		t.Error("read gives everything from a file that was cut")
	}
	if err := storetest.Outcome(t, w.Append(true, storetest.Pod("job-a", 1))); !errors.Is(err, store.ErrFailed) {
		t.Errorf("commit into a file that was cut: %v, want ErrFailed", err)
	}
	if err := log.Close(); !errors.Is(err, store.ErrFailed) {
		t.Errorf("close: %v, want ErrFailed", err)
	}
	if _, err := boltlog.Open(dir, store.Options{}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("open again: %v, want ErrCorrupt", err)
	}
}
