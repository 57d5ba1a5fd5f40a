package store

import "github.com/jobledger/jobledger/events"

// Group is what one commit is about to make durable: whole batches, all of one file. Its slices and its map belong to
// the log and are not changed by whoever is shown them, nor kept after the call.
type Group struct {
	Identity   events.Identity            // of the log behind the group
	Term       uint64                     // in which its last batch was appended
	Before     Head                       // of the record before the first; zero at the beginning of the log
	After      Head                       // of the last record
	BeginsFile bool                       // the first record begins a file
	Stored     [][]byte                   // the records in stored form, from Before.Sequence+1 to After.Sequence
	Offsets    map[string]events.Sequence // of consumers, which ride with the commit; nil when there are none
	Least      events.ReaderVersion       // what a reader of this process's records needs at least
}
