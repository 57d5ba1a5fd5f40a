package store

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// Filed is a log that lies in files on a disk of this machine. An Opened or an Archive may be one.
type Filed interface {
	// Files are those of the log, oldest first. All but the last are sealed.
	Files() ([]File, error)

	// Holes say what is wrong with sealed files of which not all records can be read.
	Holes() []error

	// Usage is what the log takes of its disk, in bytes, and what is free there.
	Usage() (bytes, free int64, err error)
}

// Tended is a log that looks after its sealed files while others are written. An Opened may be one.
type Tended interface {
	// Pack writes one sealed file once more, in less space: the oldest that is not packed. It returns the file's first
	// record; 0 when there is none. The error is ErrCorrupt when the file is damaged, and ErrNoRoom when there is no space
	// beside it.
	Pack(ctx context.Context) (first events.Sequence, err error)

	// Scrub verifies one sealed file as it is on the disk: the first that begins behind that record, or, when there is
	// none, the oldest. It returns the file's first record, with which the next call goes on; 0 when no file is sealed.
	// The error is ErrCorrupt when the file is damaged; notes are about what is derived from it.
	Scrub(ctx context.Context, after events.Sequence) (first events.Sequence, notes []string, err error)
}

// Pruner is a log that can let its oldest files go. An Opened may be one.
type Pruner interface {
	Filed

	// Condemn says what a Pruned record is to say when the files that have only records before that sequence go; nil when
	// there are none. Their sizes do not change any more. It reads them through.
	Condemn(ctx context.Context, before events.Sequence) (*events.Pruned, error)

	// Prune deletes the sealed files that have only records before that sequence, oldest first, and returns the first
	// sequence that is kept. The caller has made a Pruned record durable whose First is not less than that; without one it
	// refuses, because the log must admit its gaps. Streams that are still needed have been stated again in a file that
	// stays. What is interrupted is continued by the next call, or by the next open. It may be called beside all other
	// calls.
	Prune(ctx context.Context, before events.Sequence) (first events.Sequence, err error)

	// Ahead is by how much the files of the log may grow at once, about: its next file states what the newest one does.
	Ahead() int64
}

// FilesOf is how the files of a log are asked for; of one without files it gives none.
func FilesOf(log Reader) func() ([]File, error) {
	if filed, ok := log.(Filed); ok {
		return filed.Files
	}
	return func() ([]File, error) { return nil, nil }
}
