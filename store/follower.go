package store

import "github.com/jobledger/jobledger/events"

// Follower is an opened log to which the stored records of another log can be appended unchanged. Like Append, its
// methods may be called only by the one writer.
type Follower interface {
	// AppendStored appends batches that another log has stored. soon starts the commit without delay. It keeps the
	// records' bytes, including fields that this program does not know. A new file begins only if BeginsFile says so,
	// whatever the size and age of the current one.
	//
	// The commit, and with it the log, fails with ErrDiverged when the records do not continue the log, or when the
	// chain value (hash over all records so far) after them is not After. It fails with events.ErrNewer when this
	// program does not know the kind of a critical record (one that it may not skip). Earlier batches that are not
	// durable yet may fail with it. Room does not reserve space for the file that BeginsFile begins: on a full disk the
	// commit that creates this file may fail.
	AppendStored(b StoredBatches, soon bool) Commit

	// SetTerm sets the term (number of this process's time as the writer), which was decided outside this log. The
	// method Term then returns it, and the next batch belongs to it. It may be lower than the term that this open
	// chose. SetTerm returns an error unless term is above the terms of all TermStarted records appended since the log
	// was opened.
	SetTerm(term uint64) error
}

// StoredBatches holds consecutive whole batches in the form in which another log stored them. The bytes must not change
// afterwards.
type StoredBatches struct {
	First      events.Sequence // sequence of the first record
	Records    [][]byte        // in stored form; the last record ends its batch
	After      events.Hash     // chain value (hash over all records so far) after the last record
	BeginsFile bool            // the first record begins a new file
}
