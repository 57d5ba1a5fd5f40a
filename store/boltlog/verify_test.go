package boltlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/storetest"
)

// first returns the first record of a file of the log, by the file's name.
func first(t *testing.T, path string) events.Sequence {
	t.Helper()
	var n events.Sequence
	for _, c := range strings.TrimSuffix(filepath.Base(path), ".db") {
		n = 10*n + events.Sequence(c-'0')
	}
	return n
}

func TestSealedFilesVerifyBesideAWriter(t *testing.T) {
	dir, _ := written(t, 400)
	log := openLog(t, dir, small)
	w := storetest.NewWriter(t, log)
	paths := files(t, dir, ".db")
	tail := first(t, paths[len(paths)-1])
	ended := make(chan error, 1)
	stop := make(chan struct{})
	go func() { // writes until the end of the test's checks
		for n := 0; ; n++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
				w.Durable(storetest.Pod("job-a", n))
			}
		}
	}()
	report, err := boltlog.Verify(t.Context(), dir, nil)
	if err != nil || report.Written < tail || report.Files < len(paths)-1 || report.Head.Sequence != report.Written-1 {
		t.Errorf("verify beside a writer: %+v, %v; want all records before the tail's first, %d", report, err, tail)
	}
	if report.Identity != log.Identity() || report.First != 1 {
		t.Errorf("verify says that it is log %s from record %d", report.Identity, report.First)
	}
	flip(t, paths[1], 3*pageSize+500, 1)
	if report, err = boltlog.Verify(t.Context(), dir, nil); !errors.Is(err, store.ErrCorrupt) || report.Behind == 0 {
		t.Errorf("verify beside a writer, with a damaged sealed file: %+v, %v", report, err)
	}
	close(stop)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestScrubGoesRoundTheSealedFiles(t *testing.T) {
	dir, _ := written(t, 400)
	log := openLog(t, dir, small)
	paths := files(t, dir, ".db")
	var at events.Sequence
	for round := range 2 {
		for i, path := range paths[:len(paths)-1] {
			next, notes, err := log.Scrub(t.Context(), at)
			if err != nil || len(notes) > 0 || next != first(t, path) {
				t.Fatalf("round %d, file %d: scrubbed %d (%v), %v; want %s", round, i, next, notes, err, path)
			}
			at = next
		}
	}
	flip(t, paths[1], 3*pageSize+500, 1)
	at, _, err := log.Scrub(t.Context(), first(t, paths[0]))
	var bad *store.CorruptError
	if !errors.As(err, &bad) || bad.Path != paths[1] || at != first(t, paths[1]) {
		t.Errorf("scrub of a damaged file: %d, %v", at, err)
	}
	if at, _, err = log.Scrub(t.Context(), at); err != nil || at != first(t, paths[2]) {
		t.Errorf("scrub goes on behind it with %d, %v", at, err)
	}
}

func TestVerifyNamesADamagedSnapshot(t *testing.T) {
	dir, _ := written(t, 30)
	path := files(t, dir, ".snap")[0]
	flip(t, path, 20, 1)
	report, err := boltlog.Verify(context.Background(), dir, nil)
	if err != nil || !strings.Contains(strings.Join(report.Notes, "\n"), path) {
		t.Errorf("verify: %v; notes %q, want one of %s", err, report.Notes, path)
	}
}

// behind reads each of the other files from its first record on, as --from does. It returns how many of their records
// can be read, and how many there should be.
func behind(t *testing.T, dir string, all []events.Record, without string) (read, want int) {
	t.Helper()
	log, err := boltlog.OpenReadOnly(dir)
	if err != nil {
		t.Fatalf("without %s: %v", without, err)
	}
	defer log.Close()
	if len(log.Damage()) == 0 {
		t.Errorf("without %s: the reader is not told of any damage", without)
	}
	paths := files(t, dir, ".db")
	for i, path := range paths {
		if filepath.Base(path) == without {
			continue
		}
		from, end := first(t, path), events.Sequence(len(all))
		if i+1 < len(paths) {
			end = first(t, paths[i+1]) - 1
		}
		n := 0
		for r, err := range log.Read(t.Context(), from) {
			if err != nil || r.Sequence > end {
				break
			}
			if r.Sequence != all[r.Sequence-1].Sequence {
				t.Fatalf("record %d is another one", r.Sequence)
			}
			n++
		}
		read += n
		for _, r := range all {
			if r.Sequence >= from && r.Sequence <= end {
				want++
			}
		}
	}
	return read, want
}

// TestOneBadFileHidesNoOther damages each file of a log in turn as badly as possible, takes it away, and puts stray
// files beside it.
func TestOneBadFileHidesNoOther(t *testing.T) {
	dir, all := written(t, 400)
	paths := files(t, dir, ".db")
	for i, path := range paths {
		name := filepath.Base(path)
		for what, damage := range map[string]func(path string) error{
			"empty":        func(p string) error { return os.Truncate(p, 0) },
			"half":         func(p string) error { return os.Truncate(p, 5*pageSize+100) },
			"without meta": func(p string) error { flip(t, p, 20, 255); flip(t, p, pageSize+20, 255); return nil },
			"noise":        func(p string) error { return os.WriteFile(p, []byte(strings.Repeat("no log", 20000)), 0o600) },
		} {
			c := copyDir(t, dir)
			if err := damage(filepath.Join(c, name)); err != nil {
				t.Fatal(err)
			}
			read, want := 0, 0
			if what == "half" { // the loss shows only when the file is read
				continue
			}
			if read, want = behind(t, c, all, name); 100*read < 99*want {
				t.Errorf("%s %s: %d of the %d records of the other files can be read", name, what, read, want)
			}
			report, err := boltlog.Verify(t.Context(), c, nil)
			if !errors.Is(err, store.ErrCorrupt) || int(report.Records+report.Behind) < want*99/100 {
				t.Errorf("%s %s: verify finds %d and %d records intact, of %d; %v", name, what, report.Records, report.Behind, want, err)
			}
		}
		if i == len(paths)-1 {
			continue // without the tail the log just ends earlier: CLOSED shows the loss
		}
		c := copyDir(t, dir)
		if err := os.Remove(filepath.Join(c, name)); err != nil {
			t.Fatal(err)
		}
		whole := len(all) - int(first(t, paths[i+1])-first(t, path))
		log, err := boltlog.OpenReadOnly(c)
		if err != nil {
			t.Fatal(err)
		}
		missing := log.Damage()
		if len(missing) != 1 || !strings.Contains(missing[0].Error(), "no Pruned record") {
			t.Errorf("without %s: the damage is %v", name, missing)
		}
		n := 0
		for r, err := range log.Read(t.Context(), first(t, paths[i+1])) {
			if err != nil {
				t.Fatalf("without %s: %v", name, err)
			}
			if r.Sequence > 0 {
				n++
			}
		}
		if n != len(all)-int(first(t, paths[i+1]))+1 {
			t.Errorf("without %s: %d records behind it", name, n)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		report, err := boltlog.Verify(t.Context(), c, nil)
		if !errors.Is(err, store.ErrCorrupt) || int(report.Records+report.Behind) != whole {
			t.Errorf("without %s: verify finds %d and %d records intact, of %d; %v", name, report.Records, report.Behind, whole, err)
		}
	}
}

func TestAStrayFileHidesNothing(t *testing.T) {
	dir, all := written(t, 400)
	paths := files(t, dir, ".db")
	other, _ := written(t, 20)
	middle := first(t, paths[1]) + 3
	content, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := os.ReadFile(files(t, other, ".db")[0])
	if err != nil {
		t.Fatal(err)
	}
	for what, stray := range map[string][]byte{"empty": nil, "a file under another name": content, "another log's": foreign} {
		c := copyDir(t, dir)
		path := filepath.Join(c, "00000000000000000000.db")
		path = path[:len(path)-len("0000.db")] + itoa(10000 + int64(middle))[1:] + ".db"
		if err := os.WriteFile(path, stray, 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := boltlog.OpenReadOnly(c)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if damage := log.Damage(); len(damage) != 1 || !strings.Contains(damage[0].Error(), path) {
			t.Errorf("%s: the damage is %v, want %s", what, damage, path)
		}
		if got := records(t, log); len(got) != len(all) {
			t.Errorf("%s: %d of %d records can be read", what, len(got), len(all))
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		if _, err := boltlog.Verify(t.Context(), c, nil); !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: verify says %v, want that %s is bad", what, err, path)
		}
	}
}
