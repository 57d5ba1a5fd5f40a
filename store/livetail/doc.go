// Package livetail caches the newest batches of a log in memory, as they were appended. Consumers that follow the log
// (publishers, metrics, watching readers) then read new records without disk access and without decoding.
//
// [Log] wraps any store.Log and is one itself. Consumers read and wait as usual; a read that begins within the cache is
// served from memory:
//
//	log := livetail.New(disk, 0) // caches about 4 MiB
//
// Invariants:
//
//   - The wrapped log decides what is durable. No reader gets a record after its head, although records are cached from
//     their Append on.
//   - The cache is bounded in bytes, and a reader holds one batch at a time. A slower reader continues from the wrapped
//     log; the writer never waits for a reader.
//   - The records are those that were appended, so readers must not change them (store.Log.Append).
//
// To get the stored form of a record, call events.AppendRecord: it always returns the same bytes, at a fraction of the
// cost of decoding.
//
// # Concurrency
//
// The rules of store.Log apply.
package livetail
