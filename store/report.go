package store

import "github.com/jobledger/jobledger/events"

// Report is the result of verifying a log. Beside an error it covers the intact records before the first bad one.
type Report struct {
	Identity events.Identity
	First    events.Sequence // the first record that is kept; greater than 1 after pruning
	Records  uint64
	Head     Head // after the last record that was verified
	Files    int
	Commits  uint64          // groups of batches that became durable together
	Snapshot events.Sequence // as of which record the newest snapshot is that can be read; it was not compared with the records
	Notes    []string        // what is worth knowing and no error: an index that will be made again, an unfinished commit
	Damage   []error         // all that is wrong, in the order of the log; the first is the error of the verification
	Behind   uint64          // records in files behind the first damage that are whole in themselves
	Written  events.Sequence // the first record of the tail, when a process writes it and it could not be verified; else 0
}
