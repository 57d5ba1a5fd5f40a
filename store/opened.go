package store

import (
	"github.com/jobledger/jobledger/events"
)

// Opened is a log that this process has opened for writing, with methods for the owner in addition to Log. Every
// backend implements it. A backend may also implement [Filed], [Tended], [Pruner] and [Follower]; callers find out by a
// type assertion.
type Opened interface {
	Log
	Damaged

	// Durable returns the last durable record, and the log's ID and epoch (one life of the log) at that record.
	Durable() (events.Identity, Head)

	// LockID identifies the lock that keeps other processes from writing the log. If two logs have the same LockID,
	// they are the same log, so the holder of the lock knows that no other process writes it. A copy of the log has
	// another LockID. It is empty when it cannot be determined.
	LockID() string

	// Losses returns the known ranges of records that the log once had and now lacks. It is empty unless
	// Options.AcceptLoss allowed the open, and again after GoOn.
	Losses() []events.Loss

	// GoOn tells the log that its loss of records is handled. The caller calls it once the EpochChanged record, which
	// begins a new epoch (life of the log) after the loss, is durable.
	GoOn() error

	// Key returns the secret key of the log. It creates a missing key; made reports that.
	Key() (key events.Key, made bool, err error)
}

// Archive is a log that this process has opened only for reading. No process writes it meanwhile. It may implement
// [Filed].
type Archive interface {
	Reader
	Damaged

	// Readable returns events.ErrNewer when a program of version own is too old to read the log. A number in own that
	// is 0 is not compared.
	Readable(own events.ReaderVersion) error

	// Close releases the log.
	Close() error
}

// Damaged is a log that reports its damage.
type Damaged interface {
	// Damage returns the known damage of the log, without a full read. Any goroutine may call it.
	Damage() []error
}
