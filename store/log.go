package store

import (
	"context"
	"iter"

	"github.com/jobledger/jobledger/events"
)

// Reader is a log as those see it who do not write: the durable prefix. Any goroutine may call any method at any time.
type Reader interface {
	// Identity is that of the records appended so far: the log's random ID, fixed when it was made, and the epoch
	// of the newest LogCreated or EpochChanged record. It is known, with epoch 1, before an empty log has its
	// first record; that record, appended by the writer, is a LogCreated that says the same.
	Identity() events.Identity

	// Head is the end of the durable prefix; the zero Head of an empty log.
	Head() Head

	// Chain is the chain value after a durable record: zero for record 0, which is before the first. The error is
	// ErrPruned when neither the record nor the one right after it is kept.
	Chain(at events.Sequence) (events.Hash, error)

	// Wait returns the durable head's sequence as soon as it is greater than after. It ends with ctx's error, with
	// ErrClosed when the log closes, or with ErrFailed.
	Wait(ctx context.Context, after events.Sequence) (events.Sequence, error)

	// Read gives the durable records from that sequence on (0 means the first kept), to the head as of the call or
	// later. It ends after the first error: ErrPruned when from is no longer kept, ErrCorrupt, ErrClosed, or ctx's.
	// Records are read in pages; nothing is held in the log while the caller works, for however long.
	Read(ctx context.Context, from events.Sequence) iter.Seq2[events.Record, error]

	// ReadStream gives the durable records of one stream: Forward from the first at or after from, Backward from
	// the last at or before from (0 means the newest). Its cost is that of the stream, not of the log. Forward
	// begins with the first record kept, however much was pruned before it; Backward ends with ErrPruned when an
	// earlier one existed but is no longer kept. It ends after the first error.
	ReadStream(ctx context.Context, s events.Stream, from events.Sequence, dir Direction) iter.Seq2[events.Record, error]

	// Newest is the stream's last durable record that is kept; 0 when there is none. For the stream of an object it may be
	// told when that was created, by the API server's clock, so that it does not look where everything is older by an
	// hour; 0 is unknown.
	Newest(s events.Stream, born events.Time) (events.Sequence, error)

	// Find gives the streams of the Jobs and CronJobs that bore that name in the durable records kept, newest first. With
	// an error that is ErrCorrupt it gives those that can be found.
	Find(namespace, name string) ([]events.Stream, error)

	// LoadSnapshot returns the newest snapshot that belongs to this log: same identity, and a head that is in the
	// durable prefix with the same chain value. One that is damaged or belongs elsewhere is ignored and ok is
	// false; the error is for a log that cannot be read at all.
	LoadSnapshot(ctx context.Context) (s Snapshot, ok bool, err error)
}

// Log is a durable, totally ordered sequence of records. See the package comment for who may call what.
type Log interface {
	Reader

	// Term is that of this opening of the log: greater than those before it that are known. Its writer appends a
	// TermStarted that says the same, in its first batch. Where a TermStarted of a later term is appended, because a log
	// is written again, it is that one.
	Term() uint64

	// Room makes sure of space for appends of that many bytes in all, counted in stored form (events.AppendRecord).
	// Nil means that they will not be refused for space; the promise lasts until the next call. An error that is
	// ErrNoRoom means: append nothing, ask again later; the log is otherwise well.
	Room(bytes int) error

	// NextFile is the first sequence of the file that the next batch goes into. Each file stands alone, so when it
	// is greater than the sequence of a stream's state record, a spec or the settings, those are stated again. The next
	// file begins when [Filing] allows it. A backend without files says 1. It changes only in Append: what it says holds
	// for the next batch.
	NextFile() events.Sequence

	// Append takes one whole batch, which continues the last one appended, and returns at once. Its records are
	// not changed after. The Commit says when it is durable, always in order: when one is durable, all before it
	// are. With soon, the commit begins as soon as the one before it ended. Without, the batch rides with the
	// next commit that a caller waits for, at the latest after 100 ms or when 64 KiB wait. It never refuses
	// for space that Room promised. A Commit that fails is the end of this Log: every later one fails with
	// ErrFailed, and the caller must stop, having acted on nothing that was not durable. It is ErrFenced when another
	// writer has taken the log over.
	Append(b events.Batch, soon bool) Commit

	// Offset is the sequence through which the named consumer has got; 0 when it is not known. After a crash it may
	// be older than the last one set, never newer.
	Offset(consumer string) (events.Sequence, error)

	// SetOffset notes through which sequence the named consumer has got. It becomes durable with the next commit or
	// with Close, and causes no commit of its own. Offset shows it at once. Any goroutine may call it.
	SetOffset(consumer string, through events.Sequence) error

	// SaveSnapshot stores s durably, in place of older ones. Its Head must be one that Head returned. A snapshot
	// is a convenience: losing it costs time, never correctness.
	SaveSnapshot(ctx context.Context, s Snapshot) error

	// Close commits what was appended and set, and releases the log. After it everything fails with ErrClosed. A
	// second Close does nothing. Its error is that of the last commit.
	Close() error
}

// Head is the end of a prefix of the log.
type Head struct {
	Sequence events.Sequence // of the last record; 0 for an empty log
	Hash     events.Hash     // the chain value after that record
	Time     events.Time     // of that record
}

// Commit is an append on its way to the disk.
type Commit interface {
	// Done is closed when the batch is durable or cannot become so any more.
	Done() <-chan struct{}
	// Err is nil when the batch is durable. It may be called after Done only.
	Err() error
	// Bytes is how long the batch's records are in stored form. It may be called at once; it means
	// nothing when the append failed.
	Bytes() int
}

// Direction is the way a stream is read.
type Direction uint8

// The directions.
const (
	Forward  Direction = 1 // oldest first
	Backward Direction = 2 // newest first
)

// Snapshot is projected state, bound to one point of one log. It is fuzzy: each stream has its own as-of sequence, at
// or before the head.
type Snapshot struct {
	Identity events.Identity
	Head     Head
	Streams  []StreamSnapshot
}

// StreamSnapshot is the state of one stream, as the code of its state record encodes it.
type StreamSnapshot struct {
	Stream       events.Stream
	AsOf         events.Sequence // the last record folded into it
	State, Names []byte          // facts and evidence, like StoredState and Evidence.State
}

// File is one of the files of a log that has some. Each stands alone.
type File struct {
	First  events.Sequence
	End    Head  // of its last durable record; zero when it cannot be read
	Sealed bool  // nothing is added to it
	Bytes  int64 // on the disk; 0 when it is not known
}
