package store

import (
	"context"
	"io"
	"iter"

	"github.com/jobledger/jobledger/events"
)

// Shared is a log whose files and records can be copied to another replica of the same log. An Opened may implement it.
// Any goroutine may call its methods at any time.
type Shared interface {
	Reader
	Filed

	// ReadStored returns the durable records from sequence `from` on in stored form, at least up to the head at the
	// time of the call. It ends after the first error, like Read. The caller owns the slices.
	ReadStored(ctx context.Context, from events.Sequence) iter.Seq2[[]byte, error]

	// Share opens the file whose first record is `first`, to be copied. The caller must close it. If there is no such
	// file, the error is ErrPruned.
	Share(first events.Sequence) (*SharedFile, error)
}

// SharedFile is one open file of a log. Its content stays the same even if the log packs or deletes the file meanwhile.
type SharedFile struct {
	First  events.Sequence
	Before Head // last record of the log before the file, with its chain hash
	End    Head // last record; if the file is not sealed, the last one at the time of the call
	Sealed bool

	Begin []byte // description of the file's beginning, as the backend stores it
	Term  uint64 // newest term (number of the log's writer) that began up to End

	Offsets map[string]events.Sequence // up to which record each consumer has read; nil for a sealed file

	// Only for a sealed file: its bytes, their number, and an ID of this version of the file, which changes when it is
	// packed.
	Content io.ReaderAt
	Bytes   int64
	Edition string

	Close func() error
}

// Fetch downloads another replica's file and writes its bytes to `to`.
type Fetch func(ctx context.Context, to io.Writer) error

// Mender is a log that can replace a damaged file by another replica's copy. An Opened may implement it.
type Mender interface {
	// Mend replaces the sealed file whose first record is `first`. fetch writes another replica's file. The new file is
	// used only if its pages and checksums are intact, and if its records lead from the head before the file to the
	// head after it. The log knows these two heads from the neighbouring files. If the records do not fit, the error is
	// ErrDiverged. Any goroutine may call Mend.
	Mend(ctx context.Context, first events.Sequence, fetch Fetch) error
}

// Filling is an empty directory in which a log is built from the files of another replica. The log can be opened only
// after End. A Filling belongs to one goroutine.
type Filling interface {
	// Has reports whether an earlier, interrupted filling has already stored this sealed file, and the file is intact.
	Has(ctx context.Context, first events.Sequence, before, end Head) bool

	// File stores a sealed file that fetch writes. The file is kept only if it is intact, and if its records lead from
	// head `before` to head `end`; otherwise the error is ErrDiverged.
	File(ctx context.Context, first events.Sequence, before, end Head, fetch Fetch) error

	// Tail writes the newest file from records, which come in whole batches in stored form. It returns the head after
	// them.
	Tail(ctx context.Context, f *SharedFile, stored iter.Seq2[[]byte, error]) (Head, error)

	// Verify reads the files as a later open will, and checks everything that must hold for a log (open.Verify).
	Verify(ctx context.Context, progress func(done, total int64), has ...Head) (Report, error)

	// Key stores the log's key. Without a call of Key, the log's first writer creates one.
	Key(key events.Key) error

	// End completes the log durably, so that it can be opened.
	End() error

	// Close releases the directory. An incomplete filling can be continued later.
	Close() error
}
