package boltlog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
)

var _ store.Mender = (*Log)(nil)

// Mend implements store.Mender: it replaces the damaged sealed file that begins with record first by the copy that
// fetch downloads. The copy must be intact and fit between the neighbouring files.
func (l *Log) Mend(ctx context.Context, first events.Sequence, fetch store.Fetch) error {
	ctx, done, err := l.beside(ctx)
	if err != nil {
		return err
	}
	defer done()
	l.packing.Lock() // no packing (compression) meanwhile, because it writes a temporary file of the same name
	defer l.packing.Unlock()
	s, err := l.view()
	if err != nil {
		return err
	}
	for i, f := range s.files[:len(s.files)-1] {
		if f.first == first {
			err := l.mend(ctx, s.files, i, fetch)
			if err != nil {
				err = fmt.Errorf("replace %s: %w", f.path, err)
			}
			return err
		}
	}
	return fmt.Errorf("replace the file of record %d: no sealed file begins with it", first)
}

func (l *Log) mend(ctx context.Context, files []*logFile, at int, fetch store.Fetch) error {
	f, next := files[at], files[at+1]
	b, err := next.begin()
	if err != nil {
		return fmt.Errorf("the file behind it cannot be read either: %w", err)
	}
	before := store.Head{}
	if at > 0 {
		end, err := files[at-1].sealedHead()
		if err != nil {
			return fmt.Errorf("the file before it cannot be read either: %w", err)
		}
		before = end.Head
	} else if own, err := f.begin(); err == nil {
		before = own.before
	} else if f.first > 1 {
		return fmt.Errorf("what it continues cannot be read: %w", err)
	}
	want := wanted{logID: l.Identity().LogID, first: f.first, before: before, end: b.before}
	path := f.path + disk.TempSuffix
	if err := fetchFile(ctx, path, want, fetch); err != nil {
		return err
	}
	mended := &logFile{path: path, first: f.first}
	if err := mended.openPages(); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	if err := f.replace(mended); err != nil {
		return errors.Join(err, mended.discard())
	}
	f.indexMu.Lock()
	if f.holed != nil {
		// The index lacks records that the damaged file did not have: build it again from the mended file.
		f.memory, f.holed = nil, nil
	}
	f.indexMu.Unlock()
	delete(l.packed, f.first)
	return disk.SyncDir(l.dir)
}

// wanted describes which file another replica must send: its log, its first record, and the heads (last record and
// chain hash) before it and at its end.
type wanted struct {
	logID       string
	first       events.Sequence
	before, end store.Head
}

// fetchFile writes to path what fetch downloads, makes it durable, and checks that it is the wanted file. A file that
// is damaged or another one is removed.
func fetchFile(ctx context.Context, path string, want wanted, fetch store.Fetch) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	err = fetch(ctx, f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return want.check(ctx, path)
}

// check reads a whole file and verifies it. If the file is intact but is not the wanted one, the error is ErrDiverged.
func (w wanted) check(ctx context.Context, path string) (err error) {
	s, err := OpenSealed(path, w.first)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	switch {
	case s.Identity.LogID != w.logID && w.logID != "":
		return fmt.Errorf("the file that came is of log %s, and this is %s: %w", s.Identity.LogID, w.logID, store.ErrForeign)
	case s.Before != w.before:
		return fmt.Errorf("%w: the file that came continues record %d, hash %s, and is to continue record %d, hash %s",
			store.ErrDiverged, s.Before.Sequence, s.Before.Hash, w.before.Sequence, w.before.Hash)
	case s.End != w.end:
		return fmt.Errorf("%w: the file that came ends with record %d, hash %s, and is to end with record %d, hash %s",
			store.ErrDiverged, s.End.Sequence, s.End.Hash, w.end.Sequence, w.end.Hash)
	}
	return s.Walk(ctx, func(events.Label, []byte, events.Hash) error { return nil })
}
