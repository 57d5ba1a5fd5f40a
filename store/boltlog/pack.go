package boltlog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/disk"
	"github.com/jobledger/jobledger/store/internal/chunk"
)

// Packing compresses a sealed file: its records are copied into compressed blocks in a new file. Records, sequences and
// chain values stay the same, bit for bit; the beginning stores the reader version that is now needed. The new file is
// synced, read back and verified before a rename replaces the plain file, so its name always denotes one whole file.
// Readers that have the plain file open continue in the packed one.

// Pack implements store.Tended: it compresses the oldest sealed file that is still plain, and returns the file's first
// record; 0 when there is none. It works for a fifth of the time and sleeps for the rest. If ctx ends or the log is
// closed, it stops and changes nothing. It returns ErrCorrupt when the file is damaged; such a file stays as it is, and
// later calls skip it. It returns ErrNoRoom when there is no space for both files. Any goroutine may call Pack. It
// blocks no other method; concurrent calls pack one after the other.
func (l *Log) Pack(ctx context.Context) (first events.Sequence, err error) {
	ctx, done, err := l.beside(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	l.packing.Lock()
	defer l.packing.Unlock()
	s, err := l.view()
	if err != nil {
		return 0, err
	}
	for _, f := range s.files[:len(s.files)-1] {
		if l.packed[f.first] {
			continue
		}
		is, err := f.isPacked()
		if err == nil && !is {
			err = l.pack(ctx, f)
		}
		if err == nil || errors.Is(err, store.ErrCorrupt) || errors.Is(err, errReadBack) {
			l.packed[f.first] = true
		}
		if is && err == nil || errors.Is(err, store.ErrPruned) {
			continue
		}
		return f.first, err
	}
	return 0, nil
}

// beside registers background work for which Close must wait. The returned context ends when the log is closed. The
// caller must call done when its work has ended. It returns an error if the log is closed already.
func (l *Log) beside(ctx context.Context) (_ context.Context, done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.Ended(); err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	l.background.Go(func() { // the goroutine ends when done is called or the log is closed
		select {
		case <-ctx.Done():
		case <-l.committed:
			stop(store.ErrClosed)
		}
	})
	l.background.Add(1)
	return ctx, func() { stop(nil); l.background.Done() }, nil
}

func (f *logFile) isPacked() (is bool, err error) {
	err = f.walk(func(c chunkCursor) error {
		_, v, err := c.Floor(nil)
		is = len(v) > 0 && v[0]&^chunk.EndsGroup == chunk.BlockVersion
		return err
	})
	if err != nil {
		err = f.explain(f.first, err)
	}
	return is, err
}

func (l *Log) pack(ctx context.Context, f *logFile) error {
	if err := l.roomToPack(f); err != nil {
		return err
	}
	packed, err := writePacked(ctx, f)
	if err != nil {
		if disk.NoSpace(err) {
			err = errors.Join(store.ErrNoRoom, err)
		}
		return fmt.Errorf("pack %s: %w", f.path, err)
	}
	if err := f.replace(packed); err != nil {
		return fmt.Errorf("pack %s: %w", f.path, errors.Join(err, packed.discard()))
	}
	return disk.SyncDir(l.dir)
}

// roomToPack returns an error unless there is enough space for the packed file and further appends. It assumes that a
// packed file has at most half the size of the plain one.
func (l *Log) roomToPack(f *logFile) error {
	free, err := disk.FreeBytes(l.dir)
	if err != nil {
		return err
	}
	info, err := os.Lstat(f.path)
	if err != nil {
		return err
	}
	if most := l.options.MaxBytes; most > 0 {
		used, _, err := l.Usage()
		if err != nil {
			return err
		}
		if used+info.Size()/2 > most-most/fileShare {
			return fmt.Errorf("pack %s: %w: the log may have %d bytes, and has %d", f.path, store.ErrNoRoom, most, used)
		}
	}
	if need := info.Size()/2 + 4*allocateStep; free < need {
		return fmt.Errorf("pack %s: %w: it wants %d bytes beside it, and there are %d", f.path, store.ErrNoRoom, need, free)
	}
	return nil
}

// replace makes the packed (compressed) file take the place of the plain one, under the same name. It waits until no
// reader is reading the plain file.
func (f *logFile) replace(packed *logFile) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended != nil {
		return f.ended
	}
	if f.condemned {
		return fmt.Errorf("the file is about to be deleted: %w", store.ErrPruned)
	}
	if err := os.Rename(packed.path, f.path); err != nil {
		return err
	}
	plain := f.file
	f.file, f.sealed = packed.file, packed.sealed
	f.replaced.Store(true)
	return plain.Close()
}

// discard closes and removes a packed (compressed) file that will not replace the plain one.
func (f *logFile) discard() error { return errors.Join(f.end(store.ErrClosed), os.Remove(f.path)) }
