// Package line is the writer of a replicated log: it drives the state machine of package fence against a real stream on
// NATS. Its method Before is the hook for store.Options.Before.
//
//	l := line.New(line.Config{Stream: s, Key: key, Reader: own})
//	log, err := open.ForWriting(address, store.Options{Before: l.Before})
//	…                                            // a replica.Follower brings the log to the end of the stream
//	err = l.Claim(ctx, follower.State(), line.Term{…})
//	err = l.Refill(ctx, groups, …)               // only if the stream ends before the log
//	go l.Run(ctx)                                // if it fails, the process must end
//	loop over line.Of(log, l)                    // its Room also checks the stream
//
// Invariants:
//
//   - At most one message is in flight; a group in several parts is sent part by part.
//   - Before returns nil only when every part of the group is in the stream and counts for every reader.
//   - Run ends when the writer cannot continue: it is fenced (ErrFenced), the stream has lost messages, or a message
//     needs a newer reader. Then Before fails, and with it the log.
//
// # Concurrency
//
// Call Claim before Run. One goroutine runs Run, and one (the log's committer) calls Before; Room and Before may run
// concurrently. Close the log before the context of Run ends, because its last commits need Run.
//
// Read line.go first, then drive.go.
package line
