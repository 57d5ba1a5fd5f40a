// Package replica keeps a log of its own of what the stream of a replicated log has: it reads the stream in order, asks
// natslog.Accept of each message, and appends the records that count, as they are.
//
//	f, err := replica.Begin(ctx, s, log, own)  // log: opened for writing, with the log's ID
//	err = f.Through(ctx, place)                // all before and at that place is on this disk
//	err = f.Run(ctx)                           // a standby: until ctx ends
//
// Invariants:
//
//   - A record that the log has is compared, by the chain value behind its group, and never written again.
//   - A record that does not give the chain value of the stream stops the follower: one of the two has another history.
//   - The log is never ahead of what was accepted.
//
// It expects that the log is written by nobody else meanwhile, and that the stream is cut only behind a message that
// counts.
//
// # Concurrency
//
// A Follower belongs to one goroutine.
package replica
