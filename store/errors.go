package store

import (
	"errors"
	"fmt"

	"github.com/jobledger/jobledger/events"
)

// Programs match these with errors.Is; the types below carry what a person needs to act.
var (
	// ErrCorrupt: what is stored is not what was written. Nothing at or after the bad place was returned.
	ErrCorrupt = errors.New("log is corrupt")

	// ErrNoRoom: there is no space for what is to be appended. The log is otherwise well; ask again later.
	ErrNoRoom = errors.New("no room for the log")

	// ErrHeld: another process has the log open.
	ErrHeld = errors.New("log is in use by another process")

	// ErrClosed: the log was closed.
	ErrClosed = errors.New("log is closed")

	// ErrPruned: the records asked for were deleted by retention.
	ErrPruned = errors.New("records are pruned")

	// ErrFailed: a commit failed, so this Log accepts nothing more. Whether the batch of that commit is stored shows
	// when the log is opened again.
	ErrFailed = errors.New("log failed")

	// ErrFenced: another writer has taken the log over. What was not durable by then never will be of this writer. A
	// Commit that ends so is ErrFailed, too.
	ErrFenced = errors.New("another process has taken the log over")

	// ErrLost: the log had records that it does not have any more, or has others in their place. It is ErrCorrupt, too.
	ErrLost = errors.New("records of the log are lost")

	// ErrDiverged: records that another log stored do not continue this one. One of the two has another history.
	ErrDiverged = errors.New("records do not continue this log")

	// ErrOtherKey: the log has another key than the caller asked for.
	ErrOtherKey = errors.New("the key of the log is another one")

	// ErrForeign: the log has another identity or format than the caller asked for.
	ErrForeign = errors.New("log is not the one expected")
)

// CorruptError says where a log is damaged. It is ErrCorrupt.
type CorruptError struct {
	Path  string          // the file; empty for a log in memory
	At    events.Sequence // the first record that cannot be trusted; 0 when the damage precedes all records
	Cause error           // what was found there; may be nil
	Next  events.Sequence // the first record of the next file, which may be whole; 0 where there is none, or it is not known
	Hint  string          // what to do
}

// Error names the damaged place and how it was noticed, and says what to do.
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

// Is makes every CorruptError an ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Cause }

// LossError says how it is known that a log had records that it does not have. It is ErrLost, and the cause of a
// CorruptError.
type LossError struct {
	Loss events.Loss
	Says string
}

// Error says how it is known.
func (e *LossError) Error() string { return e.Says }

// Is makes every LossError an ErrLost.
func (e *LossError) Is(target error) bool { return target == ErrLost }

// HeldError says who has the log open. It is ErrHeld.
type HeldError struct {
	Path    string // the lock file
	PID     int    // 0 when the holder did not say
	Command string // the holder's command line; empty when it did not say
}

// Error says who holds the log and what to do.
func (e *HeldError) Error() string { return e.Holder() + ": stop it, or ask it with --server" }

// Holder says who holds the log.
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

// Is makes every HeldError an ErrHeld.
func (e *HeldError) Is(target error) bool { return target == ErrHeld }
