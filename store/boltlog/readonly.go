package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// ReadOnly is a log that no process writes, opened for tools that work offline. It is safe for concurrent use.
type ReadOnly struct {
	*logReader
	damage []error
}

// OpenReadOnly opens the log in that directory to read it; it changes nothing there and holds no lock, so a controller
// may start beside it. The error is ErrHeld when one writes the log already, and says to ask it with --server. A
// controller that starts later writes over pages of the tail: who reads on there may get an error that says so.
//
// Damage hides no more than it must. Damage says what is known of it from the start; the rest shows when it is met. A
// read ends where it comes to something that is damaged or missing, and one that begins behind it gives what is there.
func OpenReadOnly(dir string) (*ReadOnly, error) {
	l, err := openReadOnly(dir)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", dir, err)
	}
	return l, nil
}

func openReadOnly(dir string) (*ReadOnly, error) {
	if err := errors.Join(restored(dir), written(dir)); err != nil {
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
		if f.disturbed = func() error { return written(dir) }; f.sealed != nil {
			f.disturbed = f.sealed.disturbed(dir)
		}
	}
	if err == nil {
		if first := l.checkFirst(context.Background()); first != nil {
			l.damage = append([]error{first}, l.damage...)
		}
		if other := l.noted(l.durable); errors.Is(other, store.ErrLost) && l.beyond == nil { // else it is said already
			l.damage = append(l.damage, other)
		}
	}
	if len(l.damage) > 0 && err == nil {
		err = written(dir) // what looks like damage may be a controller that started meanwhile
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Damage says what is wrong with the log, as far as it shows without reading it through; nothing when it looks whole.
func (l *ReadOnly) Damage() []error { return l.damage }

// disturbed gives a function that says whether a process wrote the file since it was opened, or the log is written now.
func (p *pages) disturbed(dir string) func() error {
	return func() error {
		if err := written(dir); err != nil {
			return err
		}
		if now, err := reopenPages(p); err == nil && (now.root != p.root || now.transaction != p.transaction) {
			return errors.New("a controller wrote the log meanwhile: try again")
		}
		return nil
	}
}

// Wait returns at once when the head is greater than after, and otherwise when ctx ends or the log is closed: nothing
// is added to it.
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

// LoadSnapshot is described by store.Log.
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
