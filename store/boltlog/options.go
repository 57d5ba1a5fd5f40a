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

// Of a log that may not grow beyond some size, a file has this share, or up to that one where it has many states. A
// snapshot has at most snapshotShare, and what a turn may need is held ahead only up to aheadShare: twice, as the next
// file may be there already.
const (
	fileShare     = 32
	roofShare     = 8
	snapshotShare = 32
	aheadShare    = 64
)

// leastOf is what files and snapshots say that this process writes.
func leastOf(o *store.Options) least { return least{o.Least, o.Reader.Program} }

// complete fills in what is not given.
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
