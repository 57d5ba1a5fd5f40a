package store

import (
	"context"
	"io"
	"iter"

	"github.com/jobledger/jobledger/events"
)

// Shared is a log whose files and records can be given to another replica of the same log. An Opened may be one. Any
// goroutine may call its methods at any time.
type Shared interface {
	Reader
	Filed

	// ReadStored gives the durable records from that one on in stored form, to the head as of the call or later. It ends
	// after the first error, as Read does. The slices belong to the caller.
	ReadStored(ctx context.Context, from events.Sequence) iter.Seq2[[]byte, error]

	// Share opens the file that begins with that record. The caller closes it. The error is ErrPruned when there is none.
	Share(first events.Sequence) (*SharedFile, error)
}

// SharedFile is one file of a log. It stays as it was opened when the log writes it once more, or lets it go.
type SharedFile struct {
	First  events.Sequence
	Before Head // of the log before it
	End    Head // its last record; of the file that is written one of a moment
	Sealed bool

	Begin []byte // how the file begins, as the backend stores it
	Term  uint64 // the newest term that began in the log, as of End

	Offsets map[string]events.Sequence // of consumers; only of the file that is being written

	// Of a sealed file: its bytes, how many there are, and which edition of the file this is.
	Content io.ReaderAt
	Bytes   int64
	Edition string

	Close func() error
}

// Fetch writes the bytes of another replica's file.
type Fetch func(ctx context.Context, to io.Writer) error

// Mender is a log that takes a whole file in the place of a damaged one. An Opened may be one.
type Mender interface {
	// Mend replaces the sealed file that begins with that record. fetch writes another replica's file. What comes is taken
	// only if its pages and checksums are whole, and if its records give the chain from the head before the file to the
	// head behind it, as the log knows these without the file: by the files beside it. The error is ErrDiverged when it
	// does not. Any goroutine may call it.
	Mend(ctx context.Context, first events.Sequence, fetch Fetch) error
}

// Filling is an empty directory that becomes a log. Nothing opens the log before End. It belongs to one goroutine.
type Filling interface {
	// Has reports whether a sealed file is there, of a filling that did not end, and is whole.
	Has(ctx context.Context, first events.Sequence, before, end Head) bool

	// File makes a sealed file of what fetch writes. It is taken only if it is whole and leads from before to end; the
	// error is ErrDiverged when it does not.
	File(ctx context.Context, first events.Sequence, before, end Head, fetch Fetch) error

	// Tail makes the newest file of records, whole batches in stored form, and returns where it ends.
	Tail(ctx context.Context, f *SharedFile, stored iter.Seq2[[]byte, error]) (Head, error)

	// Verify reads what is there, as it will be opened, and checks everything that must hold for a log (open.Verify).
	Verify(ctx context.Context, progress func(done, total int64), has ...Head) (Report, error)

	// Key gives the log a key. Without one, its first writer makes a key.
	Key(key events.Key) error

	// End makes what is there a log, durably.
	End() error

	// Close lets the directory go. A filling that did not end can be gone on with.
	Close() error
}
