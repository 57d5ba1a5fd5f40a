package store

import (
	"github.com/jobledger/jobledger/events"
)

// Opened is a log that this process has opened for writing, with what its owner has to do beside appending. Every
// backend has that. What only some have is asked for by a type assertion: [Filed], [Tended], [Pruner], [Follower].
type Opened interface {
	Log
	Damaged

	// Durable is the durable head with the identity that the log had there.
	Durable() (events.Identity, Head)

	// LockID names what keeps other processes from writing. Two logs with the same one are the same: whoever holds it
	// knows that no other process does. A copy of the log has another one. Empty when it cannot be told.
	LockID() string

	// Losses are the records that the log is known to have had and does not have any more. There are none unless
	// Options.AcceptLoss let it be opened, and none after GoOn.
	Losses() []events.Loss

	// GoOn is called once the EpochChanged is durable with which the log goes on after a loss.
	GoOn() error

	// Key is the secret that belongs to the log. One that is missing is made: made says so.
	Key() (key events.Key, made bool, err error)
}

// Archive is a log that this process has opened for reading alone. No process writes it meanwhile. It may be [Filed].
type Archive interface {
	Reader
	Damaged

	// Readable is events.ErrNewer when a program of that version cannot read the log. Only numbers that are given are
	// compared.
	Readable(own events.ReaderVersion) error

	// Close releases the log.
	Close() error
}

// Damaged is a log that tells what is wrong with it.
type Damaged interface {
	// Damage is what is wrong with the log, as far as it shows without reading it through. Any goroutine may ask.
	Damage() []error
}
