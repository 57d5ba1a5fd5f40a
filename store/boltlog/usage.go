package boltlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/jobledger/jobledger/store/disk"
)

// Ahead implements store.Pruner. It returns three times the states of the last file, because reserved space exceeds
// what is written: see tail.cost.
func (l *Log) Ahead() int64 { return 3 * l.states.Load() }

// Usage returns the size of the log's files, including space allocated ahead, and the free space on their file system.
// It does not count pruned files that could not be removed.
func (l *logReader) Usage() (bytes, free int64, err error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return 0, 0, fmt.Errorf("measure the log: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == pruningName {
			continue // the store of a NATS server, or PRUNING
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // pruned or replaced meanwhile
		case err != nil:
			return 0, 0, fmt.Errorf("measure the log: %w", err)
		default:
			bytes += info.Size()
		}
	}
	bytes -= l.leavingBytes.Load()
	if free, err = disk.FreeBytes(l.dir); err != nil {
		return 0, 0, fmt.Errorf("measure the file system of %s: %w", l.dir, err)
	}
	return bytes, free, nil
}
