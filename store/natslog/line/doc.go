// Package line is the writer of a replicated log: it drives the step machine of package fence against a real stream,
// and is the hook that store.Options.Before wants.
//
//	l := line.New(line.Config{Stream: s, Key: key, Reader: own})
//	log, err := open.ForWriting(address, store.Options{Before: l.Before})
//	…                                            // a replica.Follower brings the log to the end of the stream
//	err = l.Claim(ctx, follower.State(), line.Term{…})
//	go l.Run(ctx)                                // its error ends the process
//	loop over line.Of(log, l)                    // Room knows the stream, too
//
// Invariants:
//
//   - One message is on its way, ever; a group in parts is sent part by part.
//   - Before returns nil only when every part of the group is in the stream and counts for every reader.
//   - Run ends when the line cannot go on: ErrFenced, a stream that went back, a message that needs a newer reader.
//     Then Before fails, and with it the log.
//
// # Concurrency
//
// Claim comes before Run. One goroutine runs Run, one calls Before (the log's committer); Room and Before may be called
// beside each other. Close the log before ctx of Run ends: what it commits at the end wants the line.
//
// Read line.go first, then drive.go.
package line
