package boltlog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// A sealed file is written once more, packed: its records in compressed blocks, on pages that are full. Records,
// sequences and chain values are the same, bit for bit; its begin says what its reader must know. The packed file gets
// its name when it is on the disk and was read back from there, so at any time there is one whole file under that name.
// Readers who have the plain one open go on in it.

// Pack packs one sealed file that is plain, the oldest, and returns its first record; 0 when there is none. It works a
// fifth of the time and rests the others. It ends early, with nothing changed, when ctx ends or the log is closed. The
// error is ErrCorrupt when the file is damaged: such a file stays as it is, and later calls pass over it. With
// ErrNoRoom there is no space for the packed file beside the plain one. Any goroutine may call it, and it blocks no
// other call; one at a time packs.
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

// beside is for work that Close waits for. Its context ends with the log.
func (l *Log) beside(ctx context.Context) (_ context.Context, done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.queue.Ended(); err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	l.background.Go(func() { // done ends it, or the end of the log
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
		_, v, err := c.floor(nil)
		is = len(v) > 0 && v[0]&^chunkEndsGroup == blockVersion
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
		if noSpace(err) {
			err = errors.Join(store.ErrNoRoom, err)
		}
		return fmt.Errorf("pack %s: %w", f.path, err)
	}
	if err := f.replace(packed); err != nil {
		return fmt.Errorf("pack %s: %w", f.path, errors.Join(err, packed.discard()))
	}
	return syncDir(l.dir)
}

// roomToPack makes sure that the packed file leaves some room to the tail. It is seldom larger than half of the plain
// one.
func (l *Log) roomToPack(f *logFile) error {
	free, err := freeBytes(l.dir)
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

// replace puts a packed file in the place of the plain one. Who reads the plain one now ends that before.
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

// discard removes a packed file that got no name.
func (f *logFile) discard() error { return errors.Join(f.end(store.ErrClosed), os.Remove(f.path)) }
