package boltlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/jobledger/jobledger/store/disk"
)

// Ahead implements store.Pruner: it returns by how many bytes the log may grow when a file begins. That is three times
// the size of the stored states in the last file, because more space is reserved than is written (tail.cost).
func (l *Log) Ahead() int64 { return 3 * l.states.Load() }

// Usage returns the size of the log's files, including space that is allocated ahead, and the free space on their file
// system. It leaves out pruned files that could not be removed.
func (l *logReader) Usage() (bytes, free int64, err error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return 0, 0, fmt.Errorf("measure the log: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == pruningName {
			continue // does not count: a folder, such as a NATS server's store, and the file PRUNING
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // the file was pruned or replaced after ReadDir: it does not count
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
