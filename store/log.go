package store

import (
	"context"
	"iter"

	"github.com/jobledger/jobledger/events"
)

// Reader is the reader's view of a log: its durable prefix. Any goroutine may call any method at any time.
type Reader interface {
	// Identity returns the log's random ID, fixed when it was created, and its epoch (one life of the log) after all
	// appended records: that of the newest LogCreated or EpochChanged record. An empty log already has its ID and epoch
	// 1; the writer's first record must be a LogCreated with these values.
	Identity() events.Identity

	// Head returns the last durable record, with its chain hash and time; the zero Head for an empty log.
	Head() Head

	// Chain returns the chain value (a hash over all records so far) after the durable record `at`; zero for record 0.
	// It returns ErrPruned when neither record `at` nor the next one is kept.
	Chain(at events.Sequence) (events.Hash, error)

	// Wait blocks until a record after `after` is durable, and returns the last durable record. It returns ctx's error,
	// ErrClosed when the log closes, or ErrFailed.
	Wait(ctx context.Context, after events.Sequence) (events.Sequence, error)

	// Read returns the durable records from sequence `from` on (0 means the oldest that is kept), at least up to the
	// head at the time of the call. It ends after the first error: ErrPruned when record `from` is no longer kept,
	// ErrCorrupt, ErrClosed, or ctx's error. It reads ahead in pages. While the caller works on a record, however long,
	// it holds no lock or transaction.
	Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]

	// ReadStream returns the durable records of one stream (all records of a Job, a CronJob or the controller). Forward
	// begins with the first record at or after `from`, or with the oldest one that is kept, even if earlier ones were
	// deleted. Backward begins with the last record at or before `from` (0 means the newest); it ends with ErrPruned
	// when an older record existed and is no longer kept. The cost depends on the stream, not on the log. ReadStream
	// ends after the first error.
	ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir Direction) iter.Seq2[events.Record, error]

	// Newest returns the stream's last durable record that is kept; 0 for none. born is the time at which the stream's
	// Job or CronJob was created, by the API server's clock; 0 for unknown. Newest uses it to skip files whose objects
	// are all older than born by more than an hour.
	Newest(s events.Stream, born events.Time) (events.Sequence, error)

	// Find returns the streams of the Jobs and CronJobs that had this name, according to the durable records that are
	// kept, newest first. With ErrCorrupt it returns the streams that it could still find.
	Find(namespace, name string) ([]events.Stream, error)

	// LoadSnapshot returns the newest snapshot (stored state of all streams) that fits this log: it has the log's ID
	// and epoch, and the durable record at its head has the same chain value. Snapshots that are damaged or do not fit
	// are ignored. ok is false when none remains. err is set when the log cannot be read, or when another program is
	// needed to read a snapshot (events.ErrNewer, events.ErrBefore).
	LoadSnapshot(ctx context.Context) (s Snapshot, ok bool, err error)
}

// Log is a durable, totally ordered sequence of records. Append, Room, NextFile, SaveSnapshot and Close are for the one
// writer; any goroutine may call the other methods.
type Log interface {
	Reader

	// Term returns the number of this process's time as the writer: greater than all earlier known numbers. The writer
	// appends a TermStarted with this number in its first batch. If it appends a TermStarted with a later number (which
	// happens when records of another log are appended), Term returns that one from then on.
	Term() uint64

	// Room reserves space for appends of `bytes` bytes in total, in stored form (events.AppendRecord). Nil means that
	// these appends will not fail for lack of space; this guarantee ends with the next call. On ErrNoRoom the caller
	// must append nothing and ask again later; the log is intact.
	Room(bytes int) error

	// NextFile returns the first record of the file to which the next batch is appended. Each file must be readable
	// without older files. So the writer must store the state of a Job again if the newest record with that state is
	// before NextFile, and likewise specs and settings. [Filing] decides when the next file may begin. A backend
	// without files returns 1. The value changes only in Append, so it holds for the next batch.
	NextFile() events.Sequence

	// Append appends one whole batch, which must continue the last appended one, and returns at once. The caller must
	// not change the records afterwards. Commits become durable in order: when one is durable, all earlier ones are.
	//
	// With soon, the commit begins as soon as the commit before it has ended. Without soon, the batch waits for the
	// next commit with soon, at most 100 ms or until 64 KiB wait.
	//
	// After Room has returned nil, Append does not fail for lack of space. If a Commit fails, the Log has ended: all
	// later ones fail with ErrFailed. The caller must stop, and must not have acted on anything that was not durable.
	// If another writer has taken over the log, the error also matches ErrFenced.
	Append(b events.Batch, soon bool) Commit

	// Offset returns the sequence up to which the named consumer has read; 0 when unknown. After a crash it may be
	// older than the last one that was set, but never newer.
	Offset(consumer string) (events.Sequence, error)

	// SetOffset sets the sequence up to which the named consumer has read. Offset returns it at once. It becomes
	// durable with the next commit or with Close; it causes no commit itself. Any goroutine may call it.
	SetOffset(consumer string, through events.Sequence) error

	// SaveSnapshot stores s durably and replaces older snapshots. s.Head must be a value that Head returned. Losing a
	// snapshot costs time at the next start, never correctness.
	SaveSnapshot(ctx context.Context, s Snapshot) error

	// Close commits all appended batches and all set offsets, and releases the log. It returns the error of the last
	// commit. Afterwards all methods return ErrClosed; a second Close does nothing.
	Close() error
}

// Head is the end of a prefix of the log.
type Head struct {
	Sequence events.Sequence // sequence of the last record; 0 for an empty log
	Hash     events.Hash     // chain value (hash over all records so far) after that record
	Time     events.Time     // time of that record
}

// Commit is the pending commit of an appended batch.
type Commit interface {
	// Done returns a channel that is closed when the batch is durable or has failed.
	Done() <-chan struct{}
	// Err returns nil when the batch is durable. The caller may call it only after Done is closed.
	Err() error
	// Bytes returns the size of the batch's records in stored form. The caller may call it at once; the value is
	// meaningless when the append failed.
	Bytes() int
}

// Direction is the order in which a stream is read.
type Direction uint8

// The directions.
const (
	Forward  Direction = 1 // oldest first
	Backward Direction = 2 // newest first
)

// Snapshot is the state of all streams, folded from a prefix of one log. It is not taken at one instant: each stream
// has its own AsOf, at or before Head.
type Snapshot struct {
	Identity events.Identity
	Head     Head
	Streams  []StreamSnapshot
}

// StreamSnapshot is the state of one stream, in the encoding of its StoredState record.
type StreamSnapshot struct {
	Stream       events.Stream
	AsOf         events.Sequence // the last record that the state includes
	State, Names []byte          // facts and evidence: StoredState.Encoded and Evidence.State
}

// File is one file of a log. Each file can be read without older files.
type File struct {
	First  events.Sequence
	End    Head  // head after its last durable record; zero when it cannot be read
	Sealed bool  // nothing is appended to it any more
	Bytes  int64 // size on the disk; 0 when unknown
}
