package store

import (
	"log/slog"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Options are how a log is opened for writing. The zero value is good.
type Options struct {
	// LogID is the identity of a new log, and what an existing one must have. Empty: a new one gets a random ID, an
	// existing one keeps its own.
	LogID string

	// Key is what the log's Key is to be: a log without one gets it, and Key is ErrOtherKey of one that has another.
	// Nil for any.
	Key *events.Key

	// Reader is what this program can read: a log that needs more is refused, with events.ErrNewer. A number that is 0 is
	// not compared, but the format always is.
	Reader events.ReaderVersion

	// Least is what a reader needs at least of what this process writes. Every file and snapshot says it. Its format is
	// events.LeastFormat unless given.
	Least events.ReaderVersion

	// AcceptLoss opens a log that is known to have lost records. The next one that is appended must be an EpochChanged
	// that begins an epoch higher than any of Losses; then GoOn is called.
	AcceptLoss bool

	// RotateBytes is the size at which a file is sealed and the next one begun; 0 means 256 MiB. A single batch may
	// make a file larger, and [Filing] may: a file stands alone and is ten times its states before it is sealed.
	RotateBytes int64

	// MaxBytes is how large all files of the log together are to be; 0 for any size. The owner sees to it ([Retention]).
	// The log makes its files small enough for that: a thirty-second of it, or up to an eighth where a file has many
	// states. It keeps no large snapshots, and packs no file for which there is no room.
	MaxBytes int64

	// RotateAfter is the age at which a file is sealed though it is small; 0 for none. The file stands alone before.
	RotateAfter time.Duration
	// Before is called with each group of records before the commit writes anything, also before a file begins. It may
	// take its time; meanwhile further batches wait. An error refuses the group, and fails the log as a failed commit
	// does; ErrFenced among its causes reaches the caller of Append. It is called neither for offsets alone, which Close
	// commits, nor for what [Follower] appends. Nil for no call. One goroutine calls it.
	Before func(Group) error

	// Logger hears of what is not an error to any caller: a snapshot that is ignored, a commit that waits for space.
	// Nil for no call.
	Logger *slog.Logger
}
