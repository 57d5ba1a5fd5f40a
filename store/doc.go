// Package store defines the contract of the log: a durable, totally ordered sequence of records. The state of all Jobs
// is computed ("folded") from these records.
//
// One writer appends whole batches to a [Log]; any number of readers read them. An append returns at once, and its
// [Commit] tells when the batch is durable:
//
//	if err := log.Room(size); err != nil {
//		return err // ErrNoRoom: append nothing, try again later
//	}
//	c := log.Append(batch, true)
//	<-c.Done()
//	if err := c.Err(); err != nil {
//		return err // the log has ended: stop the process
//	}
//
// Invariants:
//
//   - Sequences are dense and begin with 1. A reader sees a prefix of whole batches: never a gap, never half a batch.
//   - Nothing is acknowledged before it is durable. Batches become durable in the order of their Append.
//   - After one commit has failed, all later ones fail. The outcome of the first is unknown, so nothing may follow it.
//   - Damage is found, never skipped: a read that meets it ends with [ErrCorrupt] and the first bad sequence.
//
// Metrics, size limits and faults are wrappers around a Log; backends do not know of them. The backends are
// store/boltlog, on disk, and store/storetest/memlog, in memory, where a simulation decides when a batch becomes
// durable. Both pass the acceptance suite store/storetest. store/open chooses the backend by the log's address.
// store/livetail is a wrapper for readers that follow a log as it grows.
//
// # Concurrency
//
// Append, Room, NextFile, SaveSnapshot and Close belong to the one writer. Any goroutine may call all other methods at
// any time, also while the writer works.
//
// Read log.go first, then errors.go.
package store
