package store

import (
	"github.com/jobledger/jobledger/events"
)

// Opened is a log that this process has opened for writing, with the owner's duties in addition to appending. Every
// backend implements it. Optional interfaces are tested with a type assertion: [Filed], [Tended], [Pruner], [Follower].
type Opened interface {
	Log
	Damaged

	// Durable returns the durable head, and the identity of the log at that head.
	Durable() (events.Identity, Head)

	// LockID names the lock that keeps other processes from writing. Two logs with the same LockID are the same log, so
	// the holder of the lock knows that no other process writes it. A copy of the log has another LockID. It is empty
	// when it cannot be determined.
	LockID() string

	// Losses returns the records that the log once had and now lacks, as far as known. It is empty unless
	// Options.AcceptLoss allowed the open, and empty after GoOn.
	Losses() []events.Loss

	// GoOn ends the handling of a loss. The caller calls it once the EpochChanged with which the log goes on is
	// durable.
	GoOn() error

	// Key returns the secret key of the log. It creates a missing key; made reports that.
	Key() (key events.Key, made bool, err error)
}

// Archive is a log that this process has opened only for reading. No process writes it meanwhile. It may implement
// [Filed].
type Archive interface {
	Reader
	Damaged

	// Readable returns events.ErrNewer when a program of version own cannot read the log. It compares only the numbers
	// that are set in own.
	Readable(own events.ReaderVersion) error

	// Close releases the log.
	Close() error
}

// Damaged is a log that reports its damage.
type Damaged interface {
	// Damage returns the known damage of the log, without a full read. Any goroutine may call it.
	Damage() []error
}
