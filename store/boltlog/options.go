package boltlog

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/jobledger/jobledger/events"
	"github.com/jobledger/jobledger/store"
)

const (
	defaultRotateBytes = 256 << 20
	minRotateBytes     = 32 << 10
	maxRotateBytes     = 4 << 30
)

// Shares of Options.MaxBytes. A file may have 1/32 of it, or up to 1/8 when it has many states. A snapshot may have
// 1/32. Room reserves at most 1/64 in one file; space may be reserved in two files, because the next one may already
// exist. Example: with 4 GiB, files have 128 MiB, at most 512 MiB, and Room reserves at most 64 MiB in a file.
const (
	fileShare     = 32
	roofShare     = 8
	snapshotShare = 32
	aheadShare    = 64
)

// leastOf returns the minimum reader version that files and snapshots of this process store.
func leastOf(o *store.Options) least { return least{o.Least, o.Reader.Program} }

// complete sets defaults in the options, and returns an error if a value is out of range.
func complete(o *store.Options) error {
	o.Least.Format = max(o.Least.Format, events.LeastFormat)
	if o.RotateBytes == 0 {
		o.RotateBytes = defaultRotateBytes
	}
	if o.MaxBytes > 0 {
		o.RotateBytes = max(minRotateBytes, min(o.RotateBytes, o.MaxBytes/fileShare))
	}
	if o.RotateBytes < minRotateBytes || o.RotateBytes > maxRotateBytes {
		return fmt.Errorf("a log file of %d bytes: must be from %d to %d", o.RotateBytes, minRotateBytes, int64(maxRotateBytes))
	}
	if len(o.LogID) > 253 {
		return errors.New("the log's ID is longer than 253 bytes")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}
