package store

import "github.com/jobledger/jobledger/events"

// Group is what one commit is about to make durable: whole batches of one file. The slices and the map belong to the
// log. The receiver must not change them, and must not use them after the call.
type Group struct {
	Identity   events.Identity            // identity of the log after the group
	Term       uint64                     // term of the last batch
	Before     Head                       // head before the first record; zero at the beginning of the log
	After      Head                       // head after the last record
	BeginsFile bool                       // the first record begins a new file
	Stored     [][]byte                   // the records in stored form, from Before.Sequence+1 to After.Sequence
	Offsets    map[string]events.Sequence // offsets of consumers that the commit also stores; nil for none
	Least      events.ReaderVersion       // minimum version of a reader of this process's records
}
