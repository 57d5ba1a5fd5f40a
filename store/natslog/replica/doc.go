// Package replica keeps a local copy of a replicated log. It reads the log's stream in order, passes each message to
// natslog.Accept, and appends the records that count, unchanged.
//
//	f, err := replica.Begin(ctx, s, log, own)  // log: opened for writing, with the log's ID
//	err = f.Through(ctx, place)                // all before and at that place is on this disk
//	err = f.Run(ctx)                           // a standby: until ctx ends
//
// Invariants:
//
//   - A record that the log already has is never written again. It is compared by the chain value behind its group.
//   - A record that does not match the chain value of the stream stops the follower: one of the two has another
//     history.
//   - The log is never ahead of the accepted messages, unless the stream lost messages.
//   - A stream that lost messages which were read ends the follower with ErrWentBack, once a message that does not fit
//     shows it, or the caller asks.
//
// Two conditions must hold: no other process writes the log meanwhile, and the stream is cut only behind a message that
// counts.
//
// # Concurrency
//
// A Follower belongs to one goroutine.
package replica
