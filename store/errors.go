package store

import (
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// Programs match these errors with errors.Is. The types below add what a person needs to act.
var (
	// ErrCorrupt: the stored bytes are not the bytes that were written. A read that finds this returns the records
	// before the damage, and no later one.
	ErrCorrupt = errors.New("log is corrupt")

	// ErrNoRoom: there is no space for the append. The log is intact; ask again later.
	ErrNoRoom = errors.New("no room for the log")

	// ErrHeld: another process has the log open for writing.
	ErrHeld = errors.New("log is in use by another process")

	// ErrClosed: the log was closed.
	ErrClosed = errors.New("log is closed")

	// ErrPruned: retention has deleted the requested records.
	ErrPruned = errors.New("records are pruned")

	// ErrFailed: a commit failed, so this Log accepts nothing more. Whether the batch of that commit is stored is known
	// only after the log is opened again.
	ErrFailed = errors.New("log failed")

	// ErrFenced: another writer has taken over the log. This Log makes no further batch durable. If records are in a
	// stream of NATS, a batch that was on its way there may be stored all the same: the new writer then has it.
	// A Commit that ends with ErrFenced also matches ErrFailed.
	ErrFenced = errors.New("another process has taken the log over")

	// ErrLost: the log lacks records that it once had, or has other records in their place. It also matches ErrCorrupt.
	ErrLost = errors.New("records of the log are lost")

	// ErrDiverged: records from another replica of the log do not continue this log: one of the two has a different
	// record before them.
	ErrDiverged = errors.New("records do not continue this log")

	// ErrOtherKey: the log has another key than the caller asked for.
	ErrOtherKey = errors.New("the key of the log is another one")

	// ErrForeign: the log has another ID or format than the caller asked for.
	ErrForeign = errors.New("log is not the one expected")
)

// CorruptError tells where a log is damaged. errors.Is matches it with ErrCorrupt.
type CorruptError struct {
	Path  string          // path of the file; empty for a log in memory
	At    events.Sequence // the first record that cannot be trusted; 0 when the damage precedes all records
	Cause error           // the error found there; may be nil
	Next  events.Sequence // first record of the next file, which may be intact; 0 when there is none or it is unknown
	Hint  string          // remedy, for a person
}

// Error names the damaged place, the cause and the remedy.
func (e *CorruptError) Error() string {
	msg := fmt.Sprintf("log is corrupt at record %d", e.At)
	if e.At == 0 {
		msg = "log is corrupt"
	}
	if e.Path != "" {
		msg += " in " + e.Path
	}
	if e.Cause != nil {
		msg += ": " + e.Cause.Error()
	}
	if e.Hint != "" {
		msg += " (" + e.Hint + ")"
	}
	return msg
}

// Is reports whether target is ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Cause }

// LossError proves that a log lacks records that it once had. errors.Is matches it with ErrLost. Reads return it as the
// Cause of a CorruptError.
type LossError struct {
	Loss events.Loss
	Says string
}

// Error returns the proof as a sentence.
func (e *LossError) Error() string { return e.Says }

// Is reports whether target is ErrLost.
func (e *LossError) Is(target error) bool { return target == ErrLost }

// HeldError names the process that has the log open. errors.Is matches it with ErrHeld.
type HeldError struct {
	Path    string // path of the lock file
	PID     int    // 0 if the lock file does not have it
	Command string // command line of the process; empty if the lock file does not have it
}

// Error names the process and the remedy.
func (e *HeldError) Error() string { return e.Holder() + ": stop it, or ask it with --server" }

// Holder names the process that has the log open.
func (e *HeldError) Holder() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	if e.Command != "" {
		who += " (" + e.Command + ")"
	}
	return fmt.Sprintf("log is in use by %s, which holds %s", who, e.Path)
}

// Is reports whether target is ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }
