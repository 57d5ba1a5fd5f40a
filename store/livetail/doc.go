// Package livetail keeps the newest batches of a log in memory, as they were appended. Consumers that follow the log
// (publishers, metrics, watching readers) then read new records without disk access and without decoding.
//
// [Log] wraps any store.Log and implements store.Log. Consumers read and wait as usual. A read that begins with a
// record in the cache is answered from memory:
//
//	log := livetail.New(disk, 0) // caches about 4 MiB
//
// Invariants:
//
//   - The wrapped log decides what is durable. Records are cached from their Append on, but a reader gets no record
//     after the wrapped log's head.
//   - The size of the cache is limited, and a reader holds one batch at a time. A reader that falls behind continues
//     with the wrapped log; the writer never waits for a reader.
//   - Readers get the appended records themselves, not copies, so they must not change them (store.Log.Append).
//
// A reader that needs the stored form of a record calls events.AppendRecord. It always returns the same bytes, and
// costs much less than decoding.
//
// # Concurrency
//
// The rules of store.Log apply.
package livetail
