package store

import (
	"log/slog"
	"time"

	"github.com/jobledger/jobledger/events"
)

// Options configures how a log is opened for writing. The zero value is good.
type Options struct {
	// LogID is the required ID of an existing log, or the ID of a new one. Empty: any existing ID is accepted, and a
	// new log gets a random one.
	LogID string

	// Key is the required key of the log. A log without a key gets this one; for a log with another key, the method Key
	// returns ErrOtherKey. Nil accepts any key.
	Key *events.Key

	// Reader is the version that this program can read. A log that needs more is refused with events.ErrNewer. A number
	// that is 0 is not compared, except that the format always is.
	Reader events.ReaderVersion

	// Least is the least version of a reader of the records that this process writes. Every file and snapshot stores
	// it. A Format of 0 means events.LeastFormat.
	Least events.ReaderVersion

	// AcceptLoss opens a log that is known to have lost records. The next appended record must be an EpochChanged to an
	// epoch above that of all Losses; then the caller calls GoOn.
	AcceptLoss bool

	// RotateBytes is the size at which a file is sealed and the next one begins; 0 means 256 MiB. A file may become
	// larger by one batch. It also becomes larger when [Filing] demands it: a file must have a complete checkpoint, and
	// be ten times as large as the states in it, before it is sealed.
	RotateBytes int64

	// MaxBytes is the intended size of all files together; 0 for no limit. The owner of the log enforces it
	// ([Retention]). The log itself makes its files small enough: 1/32 of MaxBytes, or up to 1/8 when a file has many
	// states. It also keeps no large snapshots, and packs no file when there is no room.
	MaxBytes int64

	// RotateAfter is the age at which a file is sealed even if it is small; 0 for never. The file must have a complete
	// checkpoint.
	RotateAfter time.Duration
	// Before is called with each group of records before its commit writes anything, also before a file begins. It may
	// block; further batches wait meanwhile. An error refuses the group and fails the log like a failed commit; an
	// ErrFenced in its chain reaches the caller of Append. It is not called for a commit of offsets alone, which Close
	// makes, nor for records from [Follower]. Calls come from one goroutine. Nil for no call.
	Before func(Group) error

	// Logger gets messages that are not errors to any caller: a snapshot that is ignored, a commit that waits for
	// space. Nil for no messages.
	Logger *slog.Logger
}
