package store

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// Filed is a log in files on a local disk. An Opened or an Archive may implement it.
type Filed interface {
	// Files returns the files of the log, oldest first. All but the last are sealed (nothing is written to them any
	// more).
	Files() ([]File, error)

	// Holes returns an error for each sealed file that cannot be read completely.
	Holes() []error

	// Usage returns the size of the log on its disk and the free space there, in bytes.
	Usage() (bytes, free int64, err error)
}

// Tended is a log whose sealed files need background work: packing and verification. An Opened may implement it.
type Tended interface {
	// Pack compresses the oldest sealed file that is not packed yet. It returns the file's first record; 0 when all are
	// packed. It returns ErrCorrupt when the file is damaged, and ErrNoRoom when there is no space for the packed copy.
	Pack(ctx context.Context) (first events.Sequence, err error)

	// Scrub verifies one sealed file on the disk: the first one that begins after record `after`, or the oldest one if
	// there is none. It returns the file's first record, which is the argument for the next call; 0 when no file is
	// sealed. It returns ErrCorrupt when the file is damaged. notes report defects of derived files, such as the index.
	Scrub(ctx context.Context, after events.Sequence) (first events.Sequence, notes []string, err error)
}

// Pruner is a log that can delete its oldest files (prune). An Opened may implement it.
type Pruner interface {
	Filed

	// Condemn returns the Pruned record that must be durable before the files with only records before `before` are
	// deleted; nil when there are no such files. It reads these files completely. Their sizes do not change any more.
	Condemn(ctx context.Context, before events.Sequence) (*events.Pruned, error)

	// Prune deletes the sealed files (no longer written) that only have records before `before`, oldest first. It
	// returns the first record that is kept.
	//
	// Before the call, the caller must make a Pruned record durable whose First is at least that record; without it
	// Prune returns an error. The caller must also store again, in a file that is kept, the states of all Jobs and
	// CronJobs that are still needed. The next call, or the next open, continues an interrupted Prune. Prune may run
	// concurrently with all other methods.
	Prune(ctx context.Context, before events.Sequence) (first events.Sequence, err error)

	// Ahead returns about how many bytes the log may grow at once, when a new file begins: as many bytes of states as
	// the newest file has are then written to the new one.
	Ahead() int64
}

// FilesOf returns the Files method of log. For a log without files it returns a function that returns no files.
func FilesOf(log Reader) func() ([]File, error) {
	if filed, ok := log.(Filed); ok {
		return filed.Files
	}
	return func() ([]File, error) { return nil, nil }
}
