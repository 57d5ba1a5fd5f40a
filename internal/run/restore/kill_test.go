package restore_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jobledger/jobledger/internal/dev/effort"
	"github.com/jobledger/jobledger/internal/run/backup"
	"github.com/jobledger/jobledger/internal/run/restore"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/boltlog"
	"github.com/jobledger/jobledger/store/copylog"
	"github.com/jobledger/jobledger/store/copylog/copylogtest"
	"github.com/jobledger/jobledger/store/copylog/indir"
)

// TestABackupThatEndsEarly: the place fails at some call of a backup, before or after it is done, and at all later
// calls. The copy restores to an earlier head of the log, and to nothing else. The next backup ends with the log's
// head.
func TestABackupThatEndsEarly(t *testing.T) {
	before := newLog(t, 60)
	dir := copyDir(t, before)
	base := filepath.Join(t.TempDir(), "base")
	backUp(t, before, indir.New(base))
	grown(t, dir, 300)
	whole := stored(t, dir)
	counted := &copylogtest.Failing{Place: indir.New(copyDir(t, base))}
	backUp(t, dir, counted)
	for _, place := range []struct {
		sentence string
		make     func() copylog.Place
		calls    int
	}{
		{"with a copy of before", func() copylog.Place { return indir.New(copyDir(t, base)) }, counted.Calls()},
		{"without a copy", func() copylog.Place { return indir.New(filepath.Join(t.TempDir(), "copy")) }, counted.Calls() + 3},
		{"in a bucket", func() copylog.Place { return copylogtest.Bucket(t) }, counted.Calls() + 3},
	} {
		t.Run(place.sentence, func(t *testing.T) {
			for at := 1; at <= place.calls; at += effort.Step(7) {
				for _, after := range []bool{false, true} {
					p := place.make()
					failing := &copylogtest.Failing{Place: p, At: at, After: after}
					_, err := backup.Run(t.Context(), &backup.Config{Dir: dir, Place: failing})
					if failing.Calls() >= at && err == nil && !after {
						t.Fatalf("call %d fails, and nobody says it", at)
					}
					out := filepath.Join(t.TempDir(), "out")
					result, err := restoreInto(t.Context(), p, out, nil)
					if err == nil {
						if got := stored(t, out); !slices.Equal(got, whole[:result.Head.Sequence]) {
							t.Fatalf("call %d: what is restored is not the beginning of the log", at)
						}
					} else if _, _, none := copylog.ReadAll(t.Context(), p, copylog.ManifestName, copylog.MostManifest); none == nil {
						t.Fatalf("call %d, after %v: there is a copy, and it is not restored: %v", at, after, err)
					}
					if n := int(backUp(t, dir, p).Head.Sequence); n != len(whole) {
						t.Fatalf("call %d: the next copy ends with record %d", at, n)
					}
					out, _ = restored(t, p)
					if got := stored(t, out); !slices.Equal(got, whole) {
						t.Fatalf("call %d: the next copy is not the log", at)
					}
				}
			}
		})
	}
	t.Logf("%d calls of a backup", counted.Calls())
}

// TestARestoreThatEndsEarly: the place fails at some call of a restore, or an object is cut on its way. The directory
// cannot be opened then, and the next restore makes the log.
func TestARestoreThatEndsEarly(t *testing.T) {
	dir := newLog(t, 300)
	place := indir.New(filepath.Join(t.TempDir(), "copy"))
	backUp(t, dir, place)
	counted := &copylogtest.Failing{Place: place}
	if _, err := restoreInto(t.Context(), counted, filepath.Join(t.TempDir(), "out"), nil); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= counted.Calls(); at += effort.Step(7) {
		for _, after := range []bool{false, true} {
			out := filepath.Join(t.TempDir(), "out")
			_, err := restoreInto(t.Context(), &copylogtest.Failing{Place: place, At: at, After: after}, out, nil)
			var damage *restore.DamageError
			if errors.As(err, &damage) {
				t.Errorf("call %d: a place that fails is taken for damage: %v", at, err)
			}
			if err != nil && at > 1 {
				_, byReader := boltlog.OpenReadOnly(out)
				_, byWriter := boltlog.Open(out, store.Options{})
				_, byVerify := boltlog.Verify(t.Context(), out, nil)
				for _, opened := range []error{byReader, byWriter, byVerify} {
					if !errors.Is(opened, boltlog.ErrRestoring) {
						t.Fatalf("call %d: a part of a log is opened: %v", at, opened)
					}
				}
			}
			if err == nil { // only what can be made again was missing
				isWhole(t, out, dir)
				continue
			}
			if _, err := restoreInto(t.Context(), place, out, nil); err != nil {
				t.Fatalf("call %d: the next restore: %v", at, err)
			}
			isWhole(t, out, dir)
		}
	}
	t.Logf("%d calls of a restore", counted.Calls())
}

// TestASessionThatEndsEarly: the process of a controller ends at some call to the place, before or after it is done.
// The copy restores to an earlier head of the log, and the next session ends with the log's head.
func TestASessionThatEndsEarly(t *testing.T) {
	dir := t.TempDir()
	log := openLog(t, dir, store.Options{RotateBytes: 40 << 10})
	more(t, log, 40)
	base := filepath.Join(t.TempDir(), "base")
	first := session(log, dir, indir.New(base))
	for range 9 { // so that small segments are merged
		more(t, log, 1)
		pass(t, first)
	}
	more(t, log, 150)
	work := func(s *backup.Session) error {
		_, failed := s.Pass(t.Context())
		packAll(t, log)
		for range 3 {
			_, uploaded := s.Upload(t.Context())
			_, passed := s.Pass(t.Context())
			failed = errors.Join(failed, uploaded, passed)
		}
		return failed
	}
	counted := &copylogtest.Failing{Place: indir.New(copyDir(t, base))}
	if err := work(session(log, dir, counted)); err != nil {
		t.Fatal(err)
	}
	for at := 1; at <= counted.Calls(); at += effort.Step(7) {
		for _, after := range []bool{false, true} {
			place := indir.New(copyDir(t, base))
			_ = work(session(log, dir, &copylogtest.Failing{Place: place, At: at, After: after}))
			_, result := restored(t, place)
			if hash, err := log.Chain(result.Head.Sequence); err != nil || hash != result.Head.Hash {
				t.Fatalf("call %d, after %v: record %d is restored with another hash than the log has, %v", at, after, result.Head.Sequence, err)
			}
			if err := work(session(log, dir, place)); err != nil {
				t.Fatalf("call %d, after %v: the next session: %v", at, after, err)
			}
			if m := manifest(t, place); m.Head != log.Head() {
				t.Fatalf("call %d, after %v: the next session ends with record %d", at, after, m.Head.Sequence)
			}
		}
	}
	t.Logf("%d calls of a session", counted.Calls())
	closeLog(t, log)
}
