package restore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/copylog/indir"
	"github.com/jobledger/jobledger/store/storetest"
)

// TestACopyIsRestored: a log that grows is copied three times and restored each time. The second and third time only
// new records are copied. The restored log can go on, and so can its copy.
func TestACopyIsRestored(t *testing.T) {
	for name, make := range copylogtest.Places {
		t.Run(name, func(t *testing.T) {
			place, dir := make(t), newLog(t, 5)
			if n := backUp(t, dir, place).Objects; n != 1 {
				t.Errorf("%d objects of a log of one file, want 1", n)
			}
			for _, batches := range []int{3, 400, 5} {
				out, _ := restored(t, place)
				isWhole(t, out, dir)
				grown(t, dir, batches)
				result := backUp(t, dir, place)
				if batches < 10 && result.Objects != 1 {
					t.Errorf("%d objects are put of %d new batches", result.Objects, batches)
				}
				if again := backUp(t, dir, place); again.Objects != 0 || again.Head != result.Head {
					t.Errorf("the next time %d objects are put: %+v", again.Objects, again)
				}
			}
			out, result := restored(t, place)
			isWhole(t, out, dir)
			if result.Short || len(result.Notes) > 0 || result.First != 1 {
				t.Errorf("restored: %+v", result)
			}
			grown(t, out, 50)
			if backUp(t, out, place).Dropped != 0 {
				t.Error("a log that was restored whole is another one than its copy")
			}
			last, _ := restored(t, place)
			isWhole(t, last, out)
		})
	}
}

// TestACopyThatIsCopied: a copy stays valid when another tool copies it from a directory to a bucket, and from there to
// a directory.
func TestACopyThatIsCopied(t *testing.T) {
	dir, root := newLog(t, 400), filepath.Join(t.TempDir(), "copy")
	backUp(t, dir, indir.New(root))
	bucket, back := copylogtest.Bucket(t), filepath.Join(t.TempDir(), "back")
	for name, content := range objects(t, root) {
		if err := bucket.Put(t.Context(), name, strings.NewReader(content), int64(len(content))); err != nil {
			t.Fatal(err)
		}
		got, _, err := copylog.ReadAll(t.Context(), bucket, name, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(back, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, got, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range []copylog.Place{bucket, indir.New(back)} {
		out, _ := restored(t, place)
		isLog(t, out, dir)
		grown(t, dir, 20)
		backUp(t, dir, place)
		out, _ = restored(t, place)
		isWhole(t, out, dir)
	}
}

// TestACopyBesideItsWriter: the log is open and grows; the copy is that of a durable head.
func TestACopyBesideItsWriter(t *testing.T) {
	dir, place := t.TempDir(), copylogtest.Bucket(t)
	log := openLog(t, dir, small)
	for i := range 6 {
		grow(t, log, 10+i*60)
		id, head := log.Durable()
		result, err := backup.Run(t.Context(), &backup.Config{Dir: dir, Place: place, Live: asked{log}})
		if err != nil || result.Head != head || result.Identity != id {
			t.Fatalf("the copy has %+v, %v, and the log %+v", result, err, head)
		}
	}
	out, _ := restored(t, place)
	closeLog(t, log)
	isWhole(t, out, dir)
}

// TestARestoreUpToAPoint: by record and by time, in the newest file and in sealed ones. Only whole batches are
// restored. The log says that it had more, and goes on only in another epoch. So does the copy.
func TestARestoreUpToAPoint(t *testing.T) {
	dir, place := newLog(t, 300), copylogtest.Bucket(t)
	backUp(t, dir, place)
	all := stored(t, dir)
	for at := events.Sequence(2); int(at) < len(all); at += 37 {
		h, err := events.DecodeHeader([]byte(all[at-1]))
		if err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func(*restore.Config){
			"record": func(c *restore.Config) { c.Through = at },
			"time":   func(c *restore.Config) { c.At = h.Time },
		} {
			out := filepath.Join(t.TempDir(), "restored")
			result, err := restoreInto(t.Context(), place, out, change)
			if err != nil && strings.Contains(err.Error(), "ends behind what is wanted") {
				continue // the file begins with a batch that ends later
			}
			if err != nil {
				t.Fatalf("%s %d: %v", what, at, err)
			}
			last, err := events.DecodeHeader([]byte(all[result.Head.Sequence-1]))
			if err != nil || !last.Last || what == "record" && (last.Sequence > at || at-last.Sequence > 3) || what == "time" && last.Time > h.Time || !result.Short {
				t.Fatalf("%s %d: restored %+v", what, at, result)
			}
			if got := stored(t, out); !slices.Equal(got, all[:result.Head.Sequence]) {
				t.Fatalf("%s %d: the records are not the first of the log", what, at)
			}
		}
	}
}

// TestTheCopyGoesOnUnderAnotherEpoch after its log was restored to an earlier record. The later records of the old
// epoch stay under their own manifest.
func TestTheCopyGoesOnUnderAnotherEpoch(t *testing.T) {
	for name, make := range copylogtest.Places {
		t.Run(name, func(t *testing.T) {
			dir, place := newLog(t, 300), make(t)
			backUp(t, dir, place)
			all := stored(t, dir)
			out := filepath.Join(t.TempDir(), "restored")
			at := events.Sequence(len(all) / 2)
			if _, err := restoreInto(t.Context(), place, out, func(c *restore.Config) { c.Through = at }); err != nil {
				t.Fatal(err)
			}
			if _, err := boltlog.Open(out, small); !errors.Is(err, store.ErrLost) {
				t.Fatalf("a controller goes on with it: %v", err)
			}
			goOn(t, out, 2)
			result := backUp(t, out, place)
			if result.Dropped != events.Sequence(len(all)) {
				t.Errorf("the copy goes on: %+v", result)
			}
			grown(t, out, 200)
			backUp(t, out, place)
			again, _ := restored(t, place)
			isWhole(t, again, out)
			before := filepath.Join(t.TempDir(), "before")
			name := copylog.KeptName(events.Sequence(len(all)), 1)
			if _, err := restoreInto(t.Context(), place, before, func(c *restore.Config) { c.Manifest = name }); err != nil {
				t.Fatal(err)
			}
			isWhole(t, before, dir)
			var ahead *backup.AheadError
			if _, err := backup.Run(t.Context(), &backup.Config{Dir: dir, Place: place}); !errors.As(err, &ahead) {
				t.Errorf("the log of the epoch before is copied there: %v", err)
			}
		})
	}
}

// goOn opens a log that lost records, and begins an epoch.
func goOn(t *testing.T, dir string, epoch uint64) {
	t.Helper()
	options := small
	options.AcceptLoss = true
	log := openLog(t, dir, options)
	w := storetest.NewWriter(t, log)
	w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindEpochChanged, Facts: &events.EpochChanged{Epoch: epoch, Reason: events.EpochRestored}})
	if err := log.GoOn(); err != nil {
		t.Fatal(err)
	}
	grow(t, log, 20)
	closeLog(t, log)
}

// TestAForkIsRefused: a log that forked from the copied one, an older copy, or another log. Nothing is written.
func TestAForkIsRefused(t *testing.T) {
	base := newLog(t, 100)
	for sentence, change := range map[string]func(t *testing.T, dir string){
		"it ends before the copy":                          func(*testing.T, string) {},
		"it went another way, and is shorter":              func(t *testing.T, dir string) { grown(t, dir, 3) },
		"it went another way, in the file that is written": func(t *testing.T, dir string) { grown(t, dir, 21) },
		"it went another way for several files":            func(t *testing.T, dir string) { grown(t, dir, 400) },
	} {
		t.Run(sentence, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "copy")
			place, one, other := indir.New(root), copyDir(t, base), copyDir(t, base)
			backUp(t, base, place)
			grown(t, one, 20)
			backUp(t, one, place)
			had := objects(t, root)
			change(t, other)
			_, err := backup.Run(t.Context(), &backup.Config{Dir: other, Place: place})
			var ahead *backup.AheadError
			if !errors.As(err, &ahead) || !strings.Contains(err.Error(), "After records are lost") {
				t.Errorf("it is copied: %v", err)
			}
			now := objects(t, root)
			for name, content := range had {
				if now[name] != content {
					t.Errorf("%s was written over", name)
				}
			}
			out, _ := restored(t, place)
			isWhole(t, out, one)
		})
	}
	place := copylogtest.Bucket(t)
	backUp(t, base, place)
	early := newLog(t, 5)
	one, other := copyDir(t, early), copyDir(t, early)
	grown(t, one, 400)
	grown(t, other, 7)
	grown(t, other, 600)
	forked := copylogtest.Bucket(t)
	backUp(t, one, forked)
	var ahead *backup.AheadError
	if _, err := backup.Run(t.Context(), &backup.Config{Dir: other, Place: forked}); !errors.As(err, &ahead) {
		t.Errorf("a log whose first file has the same first record and another last one is copied: %v", err)
	}
	if _, err := backup.Run(t.Context(), &backup.Config{Dir: newLog(t, 3), Place: place}); err == nil || !strings.Contains(err.Error(), "is a copy of log") {
		t.Errorf("another log is copied there: %v", err)
	}
}

// TestWhatIsPruned: copied files stay in the copy when the log prunes them. Files that were pruned before they could be
// copied are a hole with bounds.
func TestWhatIsPruned(t *testing.T) {
	dir, place := newLog(t, 300), copylogtest.Bucket(t)
	backUp(t, dir, place)
	old := copyDir(t, dir)
	prune := func() events.Sequence {
		log := openLog(t, dir, small)
		defer closeLog(t, log)
		p, err := log.Condemn(t.Context(), log.Head().Sequence)
		if err != nil {
			t.Fatal(err)
		}
		w := storetest.NewWriter(t, log)
		w.Durable(storetest.Item{Stream: events.Controller, Kind: events.KindPruned, Facts: p})
		if _, err := log.Prune(t.Context(), p.First); err != nil {
			t.Fatal(err)
		}
		return p.First
	}
	first := prune()
	if r := backUp(t, dir, place); len(r.Holes) != 0 {
		t.Errorf("holes %v", r.Holes)
	}
	out, result := restored(t, place)
	if isWhole(t, out, dir); result.First != first {
		t.Errorf("the log that is restored begins with record %d, want %d", result.First, first)
	}
	all := filepath.Join(t.TempDir(), "all")
	if _, err := restoreInto(t.Context(), place, all, func(c *restore.Config) { c.All = true }); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, all); !slices.Equal(got[:first-1], stored(t, old)[:first-1]) {
		t.Error("the files that the log does not keep are not as they were")
	}

	copied := events.Sequence(len(stored(t, all)))
	grown(t, dir, 400)
	first = prune()
	r := backUp(t, dir, place)
	if want := []copylog.Hole{{From: copied + 1, Through: first - 1}}; !slices.Equal(r.Holes, want) {
		t.Errorf("holes %v, want %v", r.Holes, want)
	}
	out, _ = restored(t, place)
	isWhole(t, out, dir)
	part := filepath.Join(t.TempDir(), "part")
	if _, err := restoreInto(t.Context(), place, part, func(c *restore.Config) { c.Through, c.All = copied, true }); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, part); !slices.Equal(got, stored(t, all)) {
		t.Errorf("%d records before the hole are restored, want %d", len(got), copied)
	}
	if _, err := restoreInto(t.Context(), place, t.TempDir(), func(c *restore.Config) { c.Through = copied + 1 }); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("does not have record %d", copied+1)) {
		t.Errorf("a record of the hole: %v", err)
	}
}

// TestSegmentsGo: segments go an hour after the manifest names the file with their records. One manifest a day stays.
func TestSegmentsGo(t *testing.T) {
	root := filepath.Join(t.TempDir(), "copy")
	dir, place, now := newLog(t, 5), indir.New(root), time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	run := func(after time.Duration) {
		t.Helper()
		now = now.Add(after)
		if _, err := backup.Run(t.Context(), &backup.Config{Dir: dir, Place: place, Now: clock(now)}); err != nil {
			t.Fatal(err)
		}
	}
	count := func(prefix string) (n int) {
		for name := range maps.Keys(objects(t, root)) {
			if strings.HasPrefix(name, prefix) {
				n++
			}
		}
		return n
	}
	run(0)
	grown(t, dir, 400)
	run(time.Minute)
	if n := count("tail/"); n != 2 {
		t.Errorf("%d segments, want that of the sealed file and that of the tail", n)
	}
	run(59 * time.Minute)
	if n := count("tail/"); n != 2 {
		t.Errorf("%d segments before the hour is over", n)
	}
	run(2 * time.Minute)
	if n := count("tail/"); n != 1 {
		t.Errorf("%d segments behind the hour", n)
	}
	if n := count("manifests/"); n != 1 {
		t.Errorf("%d manifests of a day", n)
	}
	grown(t, dir, 3)
	run(24 * time.Hour)
	if n := count("manifests/"); n != 2 {
		t.Errorf("%d manifests of two days", n)
	}
	out, _ := restored(t, place)
	isWhole(t, out, dir)
}

// TestTheKey: it is copied only on request.
func TestTheKey(t *testing.T) {
	dir, place := newLog(t, 5), copylogtest.Bucket(t)
	log := openLog(t, dir, small)
	key, _, err := log.Key()
	if err != nil {
		t.Fatal(err)
	}
	closeLog(t, log)
	backUp(t, dir, place)
	out, _ := restored(t, place)
	if _, err := boltlog.ReadKey(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a copy without the key: %v", err)
	}
	if _, err := backup.Run(t.Context(), &backup.Config{Dir: dir, Place: place, WithKey: true}); err != nil {
		t.Fatal(err)
	}
	out, _ = restored(t, place)
	if got, err := boltlog.ReadKey(out); got != key || err != nil {
		t.Errorf("the key is not restored: %v", err)
	}
	out = filepath.Join(t.TempDir(), "out")
	if _, err := restoreInto(t.Context(), place, out, func(c *restore.Config) { c.WithoutKey = true }); err != nil {
		t.Fatal(err)
	}
	if _, err := boltlog.ReadKey(out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the key is restored, and was not asked for: %v", err)
	}
}

// TestOnlyIntoAnEmptyDirectory is a log restored.
func TestOnlyIntoAnEmptyDirectory(t *testing.T) {
	dir, place := newLog(t, 5), copylogtest.Bucket(t)
	backUp(t, dir, place)
	had := objects(t, dir)
	if _, err := restoreInto(t.Context(), place, dir, nil); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a log is restored over another: %v", err)
	}
	if !maps.Equal(had, objects(t, dir)) {
		t.Error("and it was changed")
	}
}

// TestAPointAtTheEndIsTheWholeLog: a point at the end of the copy, or a time after it, leaves nothing out, and the log
// goes on in its epoch.
func TestAPointAtTheEndIsTheWholeLog(t *testing.T) {
	dir, place := newLog(t, 300), copylogtest.Bucket(t)
	head := backUp(t, dir, place).Head
	for what, change := range map[string]func(*restore.Config){
		"record":      func(c *restore.Config) { c.Through = head.Sequence },
		"its time":    func(c *restore.Config) { c.At = head.Time },
		"a later one": func(c *restore.Config) { c.At = head.Time.Add(time.Hour) },
	} {
		out := filepath.Join(t.TempDir(), "restored")
		result, err := restoreInto(t.Context(), place, out, change)
		if err != nil || result.Short || result.Head != head {
			t.Fatalf("%s: restored %+v, %v", what, result, err)
		}
		isWhole(t, out, dir)
	}
}
