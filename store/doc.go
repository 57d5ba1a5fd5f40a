// Package store is the contract of the durable, totally ordered log that everything else is folded from.
//
// A [Log] takes whole batches from one writer and gives them back to any number of readers. Its invariants:
//
//   - Sequences are dense from 1. A reader sees a prefix of whole batches, never a gap and never half a batch.
//   - Nothing is acknowledged before it is durable, and batches become durable in the order of their Append.
//   - After a commit failed, every later one fails too: the outcome of the first is unknown, so nothing may follow it.
//   - Damage is found, never skipped: a read that meets it ends with [ErrCorrupt] and the first bad sequence.
//
// Metrics, size limits and faults wrap a Log; backends know nothing of them. The backends are store/boltlog, on disk,
// and store/storetest/memlog, in memory, whose durability the simulation advances by hand; store/storetest is the
// acceptance suite that both pass. store/open finds the backend by the log's address. store/livetail is a wrapper for
// those who follow a log as it grows.
//
// # Concurrency
//
// Append, Room, NextFile, SetOffset, SaveSnapshot and Close belong to the one writer; everything else may be called by
// any goroutine at any time, also while the writer works.
//
// Read log.go first, then errors.go.
package store
