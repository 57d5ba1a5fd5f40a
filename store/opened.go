package store

import (
	"context"

	"github.com/jobledger/jobledger/events"
)

// Opened is a log that this process has opened for writing, with what its owner has to do beside appending.
type Opened interface {
	Log
	Kept

	// Durable is the durable head with the identity that the log had there.
	Durable() (events.Identity, Head)

	// LockID names what keeps other processes from writing. Two logs with the same one are the same: whoever holds it knows that no
	// other process does. A copy of the log has another one. Empty when it cannot be told.
	LockID() string

	// Losses are the records that the log is known to have had and does not have any more. There are none unless
	// Options.AcceptLoss let it be opened, and none after GoOn.
	Losses() []events.Loss

	// GoOn is called once the EpochChanged is durable with which the log goes on after a loss.
	GoOn() error

	// Key is the secret that belongs to the log. One that is missing is made: made says so.
	Key() (key events.Key, made bool, err error)

	// Pack writes one sealed file once more, in less space: the oldest that is not packed. It returns the file's first record; 0 when
	// there is none. The error is ErrCorrupt when the file is damaged, and ErrNoRoom when there is no space beside it.
	Pack(ctx context.Context) (first events.Sequence, err error)

	// Condemn says what a Pruned record is to say when the files that have only records before that sequence go; nil when there are
	// none. Their bytes do not change any more. It reads them.
	Condemn(ctx context.Context, before events.Sequence) (*events.Pruned, error)

	// Prune deletes the sealed files that have only records before that sequence, oldest first, and returns the first
	// sequence that is kept. The caller has made a Pruned record durable whose First is not less than that; without one it
	// refuses, because the log must admit its gaps. Streams that are still needed have been stated again in a file that
	// stays. What is interrupted is continued by the next call, or by the next open. It may be called beside all other calls.
	Prune(ctx context.Context, before events.Sequence) (first events.Sequence, err error)

	// Ahead is by how much the files of the log may grow at once, about: its next file states what the newest one does.
	Ahead() int64

	// Scrub verifies one sealed file as it is on the disk: the first that begins behind that record, or, when there is none, the
	// oldest. It returns the file's first record, with which the next call goes on; 0 when no file is sealed. The error is ErrCorrupt
	// when the file is damaged; notes are about what is derived from it.
	Scrub(ctx context.Context, after events.Sequence) (first events.Sequence, notes []string, err error)
}

// Archive is a log that this process has opened for reading alone. No process writes it meanwhile.
type Archive interface {
	Reader
	Kept

	// Readable is events.ErrNewer when a program of that version cannot read the log. Only numbers that are given are compared.
	Readable(own events.ReaderVersion) error

	// Close releases the log.
	Close() error
}

// Kept is how a log is kept.
type Kept interface {
	// Files are those of the log, oldest first. All but the last are sealed. A backend without files says none.
	Files() ([]File, error)

	// Damage is what is wrong with the log, as far as it shows without reading it through. Any goroutine may ask.
	Damage() []error

	// Holes say what is wrong with sealed files of which not all records can be read.
	Holes() []error

	// Usage is what the log takes of its disk, in bytes, and what is free there.
	Usage() (bytes, free int64, err error)
}
