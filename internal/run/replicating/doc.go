// Package replicating makes a process a member of a replicated log: it finds or makes the stream, follows it onto the
// process's own log, and takes over the writing.
//
//	m, err := replicating.Join(ctx, config, own)      // NATS answers, the stream is the right one and well set up
//	log, err := open.Log(dir, m.Options(options))     // the process's own log, with the hook of the stream's writer
//	err = m.Begin(ctx, log)                           // leaves the file REPLICA in the directory
//	err = m.Follow(following)                         // a standby: until that context ends
//	err = m.Behind()                                  // meanwhile: why the Lease may not be taken; nil when it may
//	term, err := m.Take(ctx, holds)                   // after Follow: the stream is claimed
//	err = m.Write(writing)                            // beside the loop on m.Log(log); its error ends the process
//	err = m.Release(ctx)                              // a stop in good order
//
// Invariants:
//
//   - A stream that is not the one of REPLICA, or of the Lease, is neither followed nor claimed, unless the operator
//     said that it is a new one.
//   - A process is behind unless the stream's leader said within the last second where the stream ends, and all up to
//     there was read.
//   - A stream with a setting that loses data is not followed.
//
// # Concurrency
//
// Follow, Take, Write and Release come one after the other, Release beside Write. Behind and Watch may be called at any
// time after Begin.
//
// Read join.go first, then member.go.
package replicating
