package store

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// Filed is a log in files on a local disk. An Opened or an Archive may implement it.
type Filed interface {
	// Files returns the files of the log, oldest first. All but the last are sealed.
	Files() ([]File, error)

	// Holes returns an error for each sealed file that cannot be read completely.
	Holes() []error

	// Usage returns the size of the log on its disk and the free space there, in bytes.
	Usage() (bytes, free int64, err error)
}

// Tended is a log with background work on its sealed files. An Opened may implement it.
type Tended interface {
	// Pack rewrites one sealed file in less space: the oldest that is not packed. It returns the file's first record; 0
	// when all are packed. It returns ErrCorrupt when the file is damaged, and ErrNoRoom when there is no space for the
	// second copy.
	Pack(ctx context.Context) (first events.Sequence, err error)

	// Scrub verifies one sealed file as it is on the disk: the first one that begins after the record after, or the
	// oldest one if there is none. It returns the file's first record, the argument of the next call; 0 when no file is
	// sealed. It returns ErrCorrupt when the file is damaged. notes report defects of derived files, such as the index.
	Scrub(ctx context.Context, after events.Sequence) (first events.Sequence, notes []string, err error)
}

// Pruner is a log that can delete its oldest files. An Opened may implement it.
type Pruner interface {
	Filed

	// Condemn returns the Pruned record that must precede the deletion of all files that only have records before the
	// given sequence; nil when there are none. It reads these files completely. Their sizes do not change any more.
	Condemn(ctx context.Context, before events.Sequence) (*events.Pruned, error)

	// Prune deletes the sealed files that only have records before the given sequence, oldest first. It returns the
	// first sequence that is kept. The caller must first make a Pruned record durable whose First is at least that
	// sequence, and state all streams that are still needed in a file that is kept; without the record Prune returns an
	// error. The next call, or the next open, continues an interrupted Prune. Any goroutine may call it beside all
	// other methods.
	Prune(ctx context.Context, before events.Sequence) (first events.Sequence, err error)

	// Ahead returns about how many bytes the log may grow at once: the next file begins with as many bytes of states as
	// the newest file has.
	Ahead() int64
}

// FilesOf returns the Files method of log. For a log without files it returns a function that returns no files.
func FilesOf(log Reader) func() ([]File, error) {
	if filed, ok := log.(Filed); ok {
		return filed.Files
	}
	return func() ([]File, error) { return nil, nil }
}
