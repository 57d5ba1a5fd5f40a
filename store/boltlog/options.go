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

// leastOf is what files and snapshots say that this process writes.
func leastOf(o *store.Options) least { return least{o.Least, o.Reader.Program} }

// complete fills in what is not given.
func complete(o *store.Options) error {
	o.Least.Format = max(o.Least.Format, events.LeastFormat)
	if o.RotateBytes == 0 {
		o.RotateBytes = defaultRotateBytes
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
