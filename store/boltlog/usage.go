package boltlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Ahead is described by store.Opened.
func (l *Log) Ahead() int64 { return 3 * l.states.Load() } // more is held ahead than is written: see tail.cost

// Usage is the bytes of the log's files, with what is held ahead of the writes in them, and the bytes that are free on
// their file system. A pruned file that could not be removed is the log's no longer.
func (l *logReader) Usage() (bytes, free int64, err error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		return 0, 0, fmt.Errorf("measure the log: %w", err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == pruningName {
			continue // the store of a NATS server; the note of a file that is not counted
		}
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // pruned, or replaced, since
		case err != nil:
			return 0, 0, fmt.Errorf("measure the log: %w", err)
		default:
			bytes += info.Size()
		}
	}
	bytes -= l.leavingBytes.Load()
	if free, err = freeBytes(l.dir); err != nil {
		return 0, 0, fmt.Errorf("measure the file system of %s: %w", l.dir, err)
	}
	return bytes, free, nil
}
