// Package replica keeps a local copy of a replicated log. It reads the log's stream in order, passes each message to
// natslog.Accept, and appends the records that count, unchanged.
//
//	f, err := replica.Begin(ctx, s, log, own)  // log: opened for writing, with the log's ID
//	err = f.Through(ctx, place)                // all messages up to place are on this disk
//	err = f.Run(ctx)                           // a standby: until ctx ends
//
// Invariants:
//
//   - A record that the log already has is not written again. Instead the chain value after its group is compared.
//   - If a record does not match the chain value in the stream, the follower stops, because one of the two has another
//     history.
//   - The log is never ahead of the accepted messages, unless the stream has lost messages.
//   - If the stream has lost messages that were read, the follower ends with ErrWentBack, once a message that does not
//     fit reveals it, or the caller asks.
//
// Two conditions must hold: no other process writes the log, and old messages of the stream are removed only up to a
// message that counts.
//
// # Concurrency
//
// A Follower belongs to one goroutine.
package replica
