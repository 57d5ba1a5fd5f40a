// Package livetail keeps the newest batches of a log in memory, as they were appended, so that those who follow the log
// (publishers, metrics, watching readers) read what has just become durable without the disk and without decoding it.
//
// [Log] wraps any store.Log and is one itself: a consumer reads and waits as it always does, and a read that begins
// within what is kept is served from memory. Invariants:
//
//   - The log decides what is durable: nothing beyond its head is ever given, though it is kept from its Append on.
//   - What is kept is bounded by bytes, and a reader holds on to one batch at a time. Who is slower than that reads on from
//     the log; the writer never waits for a reader.
//   - The records are the very ones that were appended, so they must not be changed (store.Log.Append), by readers either.
//
// Whoever needs a record's stored form calls events.AppendRecord: the same record always gives the same bytes, at a
// fraction of what decoding them costs.
//
// # Concurrency
//
// As for every store.Log.
package livetail
