package boltlog

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/jobledger/jobledger/store"
	"github.com/jobledger/jobledger/store/internal/lockfile"
)

// Close implements store.Log: it commits all appended batches, writes the file CLOSED with the head, and releases the
// log.
func (l *Log) Close() error {
	l.mu.Lock()
	first := l.queue.Close()
	l.mu.Unlock()
	if !first {
		<-l.committed
		return nil
	}
	<-l.committed
	l.background.Wait()
	l.witness.Wait()

	l.mu.Lock()
	l.closed = true
	// If records were lost, the files that prove it must stay, so no index and no CLOSED is written below.
	failed, losses := l.queue.Failed(), l.losses
	l.announce()
	l.mu.Unlock()
	var errs []error
	if failed != nil {
		errs = append(errs, failed)
	} else if len(losses) == 0 {
		if err := l.indexTail(); err != nil { // only a warning, because a reader builds a missing index again
			l.options.Logger.Warn("the index of the newest file is not stored", slog.Any("error", err))
		}
	}
	for _, f := range l.files {
		errs = append(errs, f.end(store.ErrClosed))
	}
	errs = append(errs, l.tail.close(false))
	if l.spare != nil {
		errs = append(errs, l.spare.close(false), os.Remove(l.spare.path))
	}
	if errors.Join(errs...) == nil && len(losses) == 0 {
		id, end := l.Durable()
		// If the file CLOSED cannot be written, the stop still counts as orderly. Only a later loss of records is
		// then harder to detect.
		if err := writeWitness(filepath.Join(l.dir, closedName), id, end); err != nil {
			l.options.Logger.Warn("the end of the log is not witnessed", slog.Any("error", err))
		}
	}
	return errors.Join(append(errs, lockfile.Release(l.lock))...)
}

// closedName is the name of the file that records the head (last record and chain hash) while the log is closed. It
// reveals a damaged end: if bbolt's newest meta page is damaged, bbolt falls back to the commit before the last one.
// Without CLOSED that would look like a commit that a crash interrupted.
const closedName = "CLOSED"
