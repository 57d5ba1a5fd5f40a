package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/lockfile"
)

// fillNote begins the text in the file RESTORING while a directory is filled with files of another replica. It tells
// this directory from one with an unfinished restore.
const fillNote = "files of another replica of log "

// Filling implements store.Filling: a directory in which a log is built from the files of another replica. Use Fill to
// create one.
type Filling struct {
	dir, logID string
	lock       *os.File
	taken      map[events.Sequence]bool // by first record: whether the file in the directory is intact
}

var _ store.Filling = (*Filling)(nil)

// Unfilled reports whether dir holds an unfinished filling: files of another replica that do not make a complete log
// yet.
func Unfilled(dir string) (bool, error) {
	note, err := Restoring(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return len(note) > len(fillNote) && note[:len(fillNote)] == fillNote, err
}

// Vacant returns an error unless the directory is empty or absent, or holds an unfinished filling (files of another
// replica that do not make a complete log yet).
func Vacant(dir string) error {
	began, err := Unfilled(dir)
	if err != nil || began {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		switch e.Name() {
		case lockfile.Name, restoringName + disk.TempSuffix, "lost+found":
			continue
		}
		return fmt.Errorf("%s is not empty (%s)", dir, e.Name())
	}
	return nil
}

// Fill prepares a directory for the files of another replica of log logID, or continues an interrupted Fill. The
// Filling holds the LOCK until Close. The error is ErrHeld if another process has the LOCK, and fs.ErrExist if there is
// already a log.
func Fill(dir, logID string) (*Filling, error) {
	unfilled, err := Unfilled(dir)
	if err == nil && !unfilled {
		var there bool
		if there, err = Exists(dir); err == nil && there {
			err = fmt.Errorf("there is a log in %s: %w", dir, fs.ErrExist)
		}
		if err == nil {
			err = restored(dir)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	held, err := lockfile.Take(dir)
	if err != nil {
		return nil, err
	}
	f := &Filling{dir: dir, logID: logID, lock: held, taken: map[events.Sequence]bool{}}
	if err = BeginRestore(dir, fillNote+logID); err == nil {
		err = tidy(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Filling) path(first events.Sequence) string { return filepath.Join(f.dir, FileName(first)) }

// Has implements store.Filling: it reports whether the file that begins with record first is already in the directory,
// intact, and leads from head `before` to head `end`.
func (f *Filling) Has(ctx context.Context, first events.Sequence, before, end store.Head) bool {
	f.taken[first] = wanted{logID: f.logID, first: first, before: before, end: end}.check(ctx, f.path(first)) == nil
	return f.taken[first]
}

// File implements store.Filling: it stores the sealed file that fetch downloads. The file is kept only if it is intact
// and its records lead from head `before` to head `end`.
func (f *Filling) File(
	ctx context.Context, first events.Sequence, before, end store.Head, fetch store.Fetch,
) error {
	temp := f.path(first) + disk.TempSuffix
	if err := fetchFile(ctx, temp, wanted{logID: f.logID, first: first, before: before, end: end}, fetch); err != nil {
		return err
	}
	f.taken[first] = true
	return os.Rename(temp, f.path(first))
}

// Tail implements store.Filling: it writes the newest file from records in stored form, and returns the head after
// them.
func (f *Filling) Tail(
	ctx context.Context, tail *store.SharedFile, stored iter.Seq2[[]byte, error],
) (store.Head, error) {
	all, err := Firsts(f.dir)
	if err != nil {
		return store.Head{}, err
	}
	// Remove files that an earlier, unfinished filling left behind. Otherwise they would become part of this log.
	for _, first := range all {
		if !f.taken[first] {
			if err := os.Remove(f.path(first)); err != nil {
				return store.Head{}, err
			}
		}
	}
	spec := FileSpec{First: tail.First, Begin: tail.Begin, Term: tail.Term, Offsets: tail.Offsets}
	end, id, err := WriteFile(ctx, f.dir, spec, stored)
	if err == nil && id.LogID != f.logID {
		err = fmt.Errorf("the records are of log %s, and this is %s: %w", id.LogID, f.logID, store.ErrForeign)
	}
	return end, err
}

// Verify implements store.Filling: it checks the files like the package's Verify, as one log that has all heads in has.
func (f *Filling) Verify(
	ctx context.Context, progress func(done, total int64), has ...store.Head,
) (store.Report, error) {
	return verify(&verifier{ctx: ctx, dir: f.dir, progress: progress, has: has, locked: true})
}

// Key implements store.Filling: it stores the log's secret key.
func (f *Filling) Key(key events.Key) error {
	return disk.WriteFile(filepath.Join(f.dir, keyName), key[:])
}

// End implements store.Filling: it makes the directory durable and removes its mark, so that the log can be opened.
func (f *Filling) End() error { return EndRestore(f.dir) }

// Close implements store.Filling: it releases the LOCK. An unfinished filling can be continued by another Fill.
func (f *Filling) Close() error { return lockfile.Release(f.lock) }
