// Package line is the writer of a replicated log: it drives the step machine of package fence against a real stream,
// and provides the hook for store.Options.Before.
//
//	l := line.New(line.Config{Stream: s, Key: key, Reader: own})
//	log, err := open.ForWriting(address, store.Options{Before: l.Before})
//	…                                            // a replica.Follower brings the log to the end of the stream
//	err = l.Claim(ctx, follower.State(), line.Term{…})
//	err = l.Refill(ctx, groups, …)               // of a stream that ends before the log
//	go l.Run(ctx)                                // its error ends the process
//	loop over line.Of(log, l)                    // Room knows the stream, too
//
// Invariants:
//
//   - At most one message is in flight; a group in parts is sent part by part.
//   - Before returns nil only when every part of the group is in the stream and counts for every reader.
//   - Run ends when the line cannot continue: ErrFenced, a stream that went back, a message that needs a newer reader.
//     Then Before fails, and the log with it.
//
// # Concurrency
//
// Claim comes before Run. One goroutine runs Run and one calls Before (the log's committer); Room and Before may run
// concurrently. Close the log before ctx of Run ends: its last commits need the line.
//
// Read line.go first, then drive.go.
package line
