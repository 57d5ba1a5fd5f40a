package store

import "github.com/jobledger/jobledger/events"

// Follower is an opened log that can be written from the records of another one. Its methods belong to the one writer,
// like Append.
type Follower interface {
	// AppendStored is Append for batches that another log has stored. Their bytes stay as they are, with fields that this
	// program does not know. A file begins where BeginsFile says so, and nowhere else: size and age are not looked at. The
	// commit fails, and the log with it, when the records do not continue the log or do not give the chain value
	// (ErrDiverged), and when one is critical and of a kind that this program does not know (events.ErrNewer). Batches
	// that were appended before and are not durable by then may fail with them. Room does not count the file that
	// BeginsFile begins: on a full disk the commit that makes it may fail.
	AppendStored(b StoredBatches, soon bool) Commit

	// SetTerm says that from now on the log is written in that term, which was fixed elsewhere: Term says it, and the
	// next batch is of it. It may be lower than that of this opening. The error is of one that is not above the term
	// of a TermStarted that was appended since the log was opened.
	SetTerm(term uint64) error
}

// StoredBatches are whole batches, one after the other, as another log stored them. The bytes are not changed after.
type StoredBatches struct {
	First      events.Sequence // of the first record
	Records    [][]byte        // in stored form; the last one ends its batch
	After      events.Hash     // the chain value behind the last record
	BeginsFile bool            // the first record begins a file
}
