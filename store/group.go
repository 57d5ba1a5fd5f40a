package store

import "github.com/jobledger/jobledger/events"

// Group is what one commit is about to make durable: whole batches of one file. The slices and the map belong to the
// log. The receiver must not change them, and must not use them after the call.
type Group struct {
	Identity   events.Identity            // ID and epoch of the log after the group
	Term       uint64                     // number of the writer's time (term) in which the last batch was appended
	Before     Head                       // last record before the group; zero at the beginning of the log
	After      Head                       // last record of the group, with its chain hash and time
	BeginsFile bool                       // the first record begins a new file
	Stored     [][]byte                   // the records in stored form, from Before.Sequence+1 to After.Sequence
	Offsets    map[string]events.Sequence // consumers' offsets (how far each has read) to store; nil for none
	Least      events.ReaderVersion       // minimum version of a reader of this process's records
}
