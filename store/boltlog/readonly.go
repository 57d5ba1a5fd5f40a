package boltlog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// ReadOnly is a log that nobody writes, opened for tools that work offline. It is safe for concurrent use.
type ReadOnly struct {
	*library
	lock *os.File
}

// OpenReadOnly opens the log in that directory to read it; it changes nothing there. Several processes may do so at the
// same time, but none beside a writer: the error is ErrHeld then, and says to ask the writer with --server. The tail is
// not checked as a whole; damage shows when it is met.
func OpenReadOnly(dir string) (*ReadOnly, error) {
	l, err := openReadOnly(dir)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", dir, err)
	}
	return l, nil
}

func openReadOnly(dir string) (*ReadOnly, error) {
	firsts, err := listFiles(dir, fileSuffix)
	if err != nil {
		return nil, err
	}
	if len(firsts) == 0 {
		return nil, fmt.Errorf("there is no log in it: %w", fs.ErrNotExist)
	}
	held, err := lock(dir, false)
	if err != nil {
		return nil, err
	}
	if firsts, err = listFiles(dir, fileSuffix); err != nil { // what a writer did before it was locked out
		return nil, errors.Join(err, unlock(held, false))
	}
	l := &ReadOnly{library: &library{dir: dir, changed: make(chan struct{})}, lock: held}
	files, heads, err := openFiles(dir, firsts)
	l.files = files
	if err == nil {
		err = l.identify(heads[len(heads)-1])
	}
	if err == nil {
		err = checkClosed(dir, l.identity, l.durable)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
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

// Close releases the files and the lock. A second Close does nothing.
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
	return errors.Join(append(errs, unlock(l.lock, false))...)
}
