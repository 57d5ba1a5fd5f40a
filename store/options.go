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

	// Reader is the version of logs that this program can read. If a log needs a newer version, the open fails with
	// events.ErrNewer. A number that is 0 is not compared, except the format, which always is.
	Reader events.ReaderVersion

	// Least is the minimum version of a program that reads the records of this process. Every file and snapshot stores
	// it. A Format of 0 means events.LeastFormat.
	Least events.ReaderVersion

	// AcceptLoss allows opening a log that is known to have lost records. The first record appended then must be an
	// EpochChanged to an epoch (life of the log) above those of all Losses; after that the caller calls GoOn.
	AcceptLoss bool

	// RotateBytes is the size at which a file is sealed and the next one begins; 0 means 256 MiB. A file may exceed it
	// by one batch, and when [Filing] demands it: before a file is sealed it must have a complete checkpoint, and be
	// ten times as large as the states in it.
	RotateBytes int64

	// MaxBytes is the intended maximum size of all files together; 0 for no limit. The owner of the log enforces it
	// ([Retention]). The log itself makes its files small enough: 1/32 of MaxBytes, or up to 1/8 when a file has many
	// states. It also saves no large snapshots, and packs no file when there is no space.
	MaxBytes int64

	// RotateAfter is the age at which a file is sealed even if it is small; 0 for never. The file must have a complete
	// checkpoint.
	RotateAfter time.Duration
	// Before is called with each group of records before its commit writes anything, even before a new file is created.
	// It may block; further batches then wait. An error refuses the group and fails the log like a failed commit. If
	// the error matches ErrFenced, the caller of Append sees that. Before is not called for a commit of offsets alone
	// (at Close), nor for records from [Follower]. All calls come from one goroutine. Nil for no call.
	Before func(Group) error

	// Logger gets messages that are not errors to any caller: a snapshot that is ignored, a commit that waits for
	// space. Nil for no messages.
	Logger *slog.Logger
}
