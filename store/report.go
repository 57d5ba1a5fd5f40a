package store

import "github.com/jobledger/jobledger/events"

// Report is the result of verifying a log. If the verification also returns an error, the report covers the intact
// records before the first bad one.
type Report struct {
	Identity events.Identity
	First    events.Sequence // oldest record that is kept; greater than 1 after pruning
	Records  uint64
	Head     Head // head after the last verified record
	Files    int
	Commits  uint64          // number of commits
	Snapshot events.Sequence // head of the newest readable snapshot; its content was not compared with the records
	Notes    []string        // findings that are no errors: an index that must be rebuilt, an unfinished commit
	Damage   []error         // all damage, in the order of the log; the first is the error of the verification
	Behind   uint64          // intact records in the files after the first damage
	// First record of the newest file, if another process writes it, so that it was not verified; 0 otherwise
	Written events.Sequence
}
