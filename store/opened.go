package store

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// Opened is a log that this process has opened for writing, with what its owner has to do beside appending.
type Opened interface {
	Log
	Kept

	// Durable is the identity and the head of what is durable, as of one moment.
	Durable() (events.Identity, Head)

	// LockID names what keeps others from writing: two processes that see the same one have the same log before them.
	LockID() string

	// Losses are the records that the log is known to have had and does not have any more. There are none unless
	// Options.AcceptLoss let it be opened, and none after GoOn.
	Losses() []events.Loss

	// GoOn ends a loss: an EpochChanged is appended, and what tells of the lost records is no longer needed.
	GoOn() error

	// Key is the secret that belongs to the log. Made reports that there was none, or none that could be read.
	Key() (key events.Key, made bool, err error)

	// Pack writes the oldest sealed file that is not packed once more, in less space. It returns the file's first sequence; 0 when there
	// is none.
	Pack(ctx context.Context) (first events.Sequence, err error)

	// Scrub checks the sealed file that follows the one which begins with that sequence, or the first one. It returns the file's first
	// sequence, what it found that is no damage, and the damage; 0 when there is none left.
	Scrub(ctx context.Context, after events.Sequence) (first events.Sequence, notes []string, err error)
}

// Archive is a log that this process has opened for reading alone. No process writes it meanwhile.
type Archive interface {
	Reader
	Kept

	// Damage is what was found wrong so far. What is readable is given to readers.
	Damage() []error

	// Readable is events.ErrNewer when a part of the log needs a newer program than that one.
	Readable(own events.ReaderVersion) error

	// Close releases the log.
	Close() error
}

// Kept is how a log is kept.
type Kept interface {
	// Files are those of the log, oldest first. All but the last are sealed. A backend without files says none.
	Files() ([]File, error)

	// Holes say which files are missing between those that there are: what was recorded there cannot be had.
	Holes() []error

	// Usage is what the log takes of its disk, in bytes, and what is free there.
	Usage() (bytes, free int64, err error)
}
