package boltlog

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

// Close is described by store.Log.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closing {
		l.mu.Unlock()
		<-l.committed
		return nil
	}
	l.closing = true
	l.signal()
	l.mu.Unlock()
	<-l.committed
	l.background.Wait()
	l.witness.Wait()

	l.mu.Lock()
	l.closed = true
	failed := l.failed
	l.announce()
	l.mu.Unlock()
	var errs []error
	if failed != nil {
		errs = append(errs, fmt.Errorf("%w: %w", store.ErrFailed, failed))
	} else if err := l.indexTail(); err != nil { // readers make it again
		l.options.Logger.Warn("the index of the newest file is not stored", slog.Any("error", err))
	}
	for _, f := range l.files {
		errs = append(errs, f.end(store.ErrClosed))
	}
	errs = append(errs, l.tail.close(false))
	if l.spare != nil {
		errs = append(errs, l.spare.close(false), os.Remove(l.spare.path))
	}
	if errors.Join(errs...) == nil {
		if err := writeClosed(l.dir, l.identity, l.durable); err != nil { // only a witness
			l.options.Logger.Warn("the end of the log is not witnessed", slog.Any("error", err))
		}
	}
	return errors.Join(append(errs, unlock(l.lock))...)
}

// closedName is the file that witnesses the head while the log is closed. bbolt goes back to the commit before the last
// when the newest meta page is damaged, as it must when a commit did not end; after a Close it must not.
const closedName = "CLOSED"

func writeClosed(dir string, id events.Identity, end store.Head) error {
	return writeWitness(filepath.Join(dir, closedName), id, end)
}

// checkClosed compares the log with its witness. A witness that is missing or cannot be read says nothing; one that
// says less than the log does was overtaken.
func checkClosed(dir string, id events.Identity, end store.Head) error {
	content, err := os.ReadFile(filepath.Join(dir, closedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if witnessed := decodeClosed(content, id); witnessed.Sequence > end.Sequence {
		return lost(dir, end.Sequence, witnessed.Sequence, "the log was closed with record %d")
	}
	return nil
}

// decodeClosed gives the head that a witness speaks of; the zero Head when it cannot be read or is another log's.
func decodeClosed(content []byte, id events.Identity) store.Head {
	d, err := newFields(content)
	if err != nil {
		return store.Head{}
	}
	logID, end := d.text(), d.head()
	if d.end("decode the witness") != nil || logID != id.LogID {
		return store.Head{}
	}
	return end
}

// lost is for a log that ends before a record that it had. The witness says how that is known.
func lost(dir string, end, had events.Sequence, witness string) error {
	return &store.CorruptError{
		Path: dir, At: end + 1,
		Cause: fmt.Errorf(witness+", and it ends with record %d now", had, end),
		Hint:  "its end is damaged or lost, or an older copy was put in its place; records through the end can be read",
	}
}
