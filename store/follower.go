package store

import "github.com/jobledger/jobledger/events"

// Follower is an opened log that can be written from the stored records of another log. Its methods belong to the one
// writer, like Append.
type Follower interface {
	// AppendStored is Append for batches that another log has stored. It keeps their bytes, including fields that this
	// program does not know. A file begins only where BeginsFile says so, whatever its size and age. The commit, and
	// with it the log, fails with ErrDiverged when the records do not continue the log or do not give the chain value
	// After, and with events.ErrNewer when a critical record has a kind that this program does not know. Batches that
	// were appended before and are not durable yet may fail with it. Room does not count the file that BeginsFile
	// begins: on a full disk the commit that creates it may fail.
	AppendStored(b StoredBatches, soon bool) Commit

	// SetTerm sets the term of this writer, which was decided elsewhere. Term returns it, and the next batch belongs to
	// it. It may be lower than the term of this opening. SetTerm returns an error unless term is above that of every
	// TermStarted that was appended since the log was opened.
	SetTerm(term uint64) error
}

// StoredBatches holds consecutive whole batches in the form in which another log stored them. The bytes must not change
// afterwards.
type StoredBatches struct {
	First      events.Sequence // sequence of the first record
	Records    [][]byte        // in stored form; the last record ends its batch
	After      events.Hash     // chain value after the last record
	BeginsFile bool            // the first record begins a new file
}
