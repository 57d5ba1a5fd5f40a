package store

import (
	"context"
	"iter"

	"github.com/jobledger/jobledger/events"
)

// Reader is the reader's view of a log: its durable prefix. Any goroutine may call any method at any time.
type Reader interface {
	// Identity returns the identity after all appended records: the random ID of the log, fixed when it was created,
	// and the epoch of the newest LogCreated or EpochChanged record. An empty log already has its ID and epoch 1; the
	// writer's first record must be a LogCreated with these values.
	Identity() events.Identity

	// Head returns the end of the durable prefix; the zero Head for an empty log.
	Head() Head

	// Chain returns the chain value after the durable record at; zero for 0, the place before the first record. It
	// returns ErrPruned when neither the record nor its successor is kept.
	Chain(at events.Sequence) (events.Hash, error)

	// Wait blocks until the durable head is greater than after, and returns the head's sequence. It returns ctx's
	// error, ErrClosed when the log closes, or ErrFailed.
	Wait(ctx context.Context, after events.Sequence) (events.Sequence, error)

	// Read returns the durable records from the sequence from on (0 means the oldest that is kept), at least up to the
	// head at the time of the call. It ends after the first error: ErrPruned when from is no longer kept, ErrCorrupt,
	// ErrClosed, or ctx's error. It reads pages ahead and holds no lock or transaction while the caller works, however
	// long that takes.
	Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]

	// ReadStream returns the durable records of one stream: Forward from the first one at or after from, Backward from
	// the last one at or before from (0 means the newest). Its cost depends on the stream, not on the log. Forward
	// begins with the oldest record that is kept, whatever was pruned. Backward ends with ErrPruned when an older
	// record existed and is no longer kept. It ends after the first error.
	ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir Direction) iter.Seq2[events.Record, error]

	// Newest returns the stream's last durable record that is kept; 0 for none. born is the time at which the stream's
	// object was created, by the API server's clock; 0 for unknown. Newest uses it to skip files whose objects are all
	// older than born by more than an hour.
	Newest(s events.Stream, born events.Time) (events.Sequence, error)

	// Find returns the streams of the Jobs and CronJobs that had this name in the durable records that are kept, newest
	// first. With ErrCorrupt it returns the streams that it could still find.
	Find(namespace, name string) ([]events.Stream, error)

	// LoadSnapshot returns the newest snapshot of this log: with its identity, and with a head in the durable prefix
	// that has the same chain value. It ignores a snapshot that is damaged or does not match. ok is false when none
	// remains. err is not nil only when the log cannot be read at all.
	LoadSnapshot(ctx context.Context) (s Snapshot, ok bool, err error)
}

// Log is a durable, totally ordered sequence of records. The package comment says which methods belong to the writer.
type Log interface {
	Reader

	// Term returns the term of this opening of the log: greater than all earlier known terms. The writer appends a
	// TermStarted with this term in its first batch. After an append of a TermStarted with a later term, which happens
	// when records of another log are written again, Term returns that one.
	Term() uint64

	// Room reserves space for appends of bytes bytes in total, in stored form (events.AppendRecord). Nil means that
	// these appends will not fail for lack of space; the promise ends with the next call. On ErrNoRoom the caller must
	// append nothing and ask again later; the log is intact.
	Room(bytes int) error

	// NextFile returns the first sequence of the file that the next batch goes into. Each file must stand alone. So
	// when NextFile is greater than the sequence of a stream's state record, of a spec or of the settings, the writer
	// must state these again. [Filing] decides when the next file may begin. A backend without files returns 1. The
	// value changes only in Append: it holds for the next batch.
	NextFile() events.Sequence

	// Append appends one whole batch, which must continue the last appended one, and returns at once. The caller must
	// not change the records afterwards. Commits become durable in order: when one is durable, all earlier ones are.
	//
	// With soon, the commit begins as soon as the commit before it has ended. Without soon, the batch waits for the
	// next commit with soon, at most 100 ms or until 64 KiB wait.
	//
	// Append never fails for space that Room promised. A Commit that fails is the end of this Log: all later ones fail
	// with ErrFailed. The caller must stop, and must not have acted on anything that was not durable. The error is also
	// ErrFenced when another writer has taken over the log.
	Append(b events.Batch, soon bool) Commit

	// Offset returns the sequence through which the named consumer has read; 0 when unknown. After a crash it may be
	// older than the last one that was set, never newer.
	Offset(consumer string) (events.Sequence, error)

	// SetOffset sets the sequence through which the named consumer has read. Offset returns it at once. It becomes
	// durable with the next commit or with Close, and causes no commit itself. Any goroutine may call it.
	SetOffset(consumer string, through events.Sequence) error

	// SaveSnapshot stores s durably and replaces older snapshots. s.Head must be a value that Head returned. Losing a
	// snapshot costs time at the next start, never correctness.
	SaveSnapshot(ctx context.Context, s Snapshot) error

	// Close commits everything that was appended and set, and releases the log. It returns the error of the last
	// commit. Afterwards all methods return ErrClosed; a second Close does nothing.
	Close() error
}

// Head is the end of a prefix of the log.
type Head struct {
	Sequence events.Sequence // sequence of the last record; 0 for an empty log
	Hash     events.Hash     // chain value after that record
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

// Snapshot is projected state that belongs to one point of one log. It is fuzzy: each stream has its own AsOf, at or
// before Head.
type Snapshot struct {
	Identity events.Identity
	Head     Head
	Streams  []StreamSnapshot
}

// StreamSnapshot is the state of one stream, in the encoding of its StoredState record.
type StreamSnapshot struct {
	Stream       events.Stream
	AsOf         events.Sequence // the last record folded into it
	State, Names []byte          // facts and evidence: StoredState.Encoded and Evidence.State
}

// File is one file of a log. Each file stands alone.
type File struct {
	First  events.Sequence
	End    Head  // head after its last durable record; zero when it cannot be read
	Sealed bool  // nothing is appended to it any more
	Bytes  int64 // size on the disk; 0 when unknown
}
