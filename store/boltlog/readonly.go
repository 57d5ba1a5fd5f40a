package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/boltfile"
	"github.com/jobledger/jobledger/store/internal/lockfile"
)

// ReadOnly is a log that no process writes, opened by an offline tool. It is safe for concurrent use.
type ReadOnly struct {
	*logReader
	damage []error
}

// OpenReadOnly opens the log in the directory for reading. It changes nothing there and holds no lock. If a controller
// writes the log, it returns ErrHeld, with the hint to use --server. A controller that starts later overwrites pages of
// the newest file; a reader of that file may then get an error that says so.
//
// Damage hides as few records as possible. The method Damage returns the damage that is known from the start; reads
// find further damage. A read ends at a damaged or missing part, but a read that begins after this part returns the
// records there.
func OpenReadOnly(dir string) (*ReadOnly, error) {
	l, err := openReadOnly(dir)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", dir, err)
	}
	return l, nil
}

func openReadOnly(dir string) (*ReadOnly, error) {
	if err := errors.Join(restored(dir), lockfile.Held(dir)); err != nil {
		return nil, err
	}
	firsts, err := listFiles(dir, fileSuffix)
	if err != nil {
		return nil, err
	}
	if len(firsts) == 0 {
		return nil, fmt.Errorf("there is no log in it: %w", fs.ErrNotExist)
	}
	r, err := openReadable(dir, firsts)
	l := &ReadOnly{
		logReader: &logReader{
			dir: dir, changed: make(chan struct{}), files: r.files, identity: r.id, durable: r.end, beyond: r.beyond,
		},
		damage: r.damage,
	}
	for _, f := range r.files {
		if f.disturbed = func() error { return lockfile.Held(dir) }; f.sealed != nil {
			f.disturbed = disturbed(f.sealed, dir)
		}
	}
	if err == nil {
		if first := l.checkFirst(context.Background()); first != nil {
			l.damage = append([]error{first}, l.damage...)
		}
		// If beyond is set, the file's damage is already reported and explains why the record in HEAD is missing.
		if other := l.noted(l.durable); errors.Is(other, store.ErrLost) && l.beyond == nil {
			l.damage = append(l.damage, other)
		}
	}
	if len(l.damage) > 0 && err == nil {
		// If a controller has begun to write meanwhile, its writes may look like damage: return ErrHeld instead.
		err = lockfile.Held(dir)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Damage implements store.Archive: it returns the damage that is known without reading the whole log; nil for none.
func (l *ReadOnly) Damage() []error { return l.damage }

// disturbed returns a function for readers of an unlocked file p in dir. That function returns an error if a process
// has written to the file since it was opened, or writes the log now.
func disturbed(p *boltfile.Pages, dir string) func() error {
	return func() error {
		if err := lockfile.Held(dir); err != nil {
			return err
		}
		if p.Written() {
			return errors.New("a controller wrote the log meanwhile: try again")
		}
		return nil
	}
}

// Wait returns at once if the log has a record after `after`. Otherwise it blocks until ctx ends or the log is closed,
// because nothing is appended to this log.
func (l *ReadOnly) Wait(ctx context.Context, after events.Sequence) (events.Sequence, error) {
	l.mu.Lock()
	head, changed, closed := l.durable.Sequence, l.changed, l.closed
	l.mu.Unlock()
	switch {
	case closed:
		return head, store.ErrClosed
	case head > after:
		return head, nil
	}
	select {
	case <-changed:
		return head, store.ErrClosed
	case <-ctx.Done():
		return head, ctx.Err()
	}
}

// LoadSnapshot implements store.Reader: it returns the newest intact snapshot (stored state of all streams) of this
// log; false if there is none.
func (l *ReadOnly) LoadSnapshot(context.Context) (store.Snapshot, bool, error) {
	return l.loadSnapshot(slog.New(slog.DiscardHandler))
}

// Close releases the files. A second Close does nothing.
func (l *ReadOnly) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.announce()
	l.mu.Unlock()
	var errs []error
	for _, f := range l.files {
		errs = append(errs, f.end(store.ErrClosed))
	}
	return errors.Join(errs...)
}
