// Package replicating makes a process a member of a replicated log: it finds or creates the stream, follows it into the
// process's own log, and takes over the writing.
//
//	m, err := replicating.Join(ctx, config, own)      // NATS answers; the stream is the right one, with safe settings
//	log, err := open.Log(dir, m.Options(options))     // the process's own log, with the hook of the stream's writer
//	err = m.Begin(ctx, log)                           // writes the file REPLICA to the directory
//	err = m.Follow(following)                         // a standby: until that context ends
//	err = m.Behind()                                  // meanwhile: why the Lease may not be taken; nil when it may
//	term, err := m.Take(ctx, holds)                   // after Follow: the stream is claimed
//	err = m.Write(writing)                            // beside the loop on m.Log(log); its error ends the process
//	err = m.Release(ctx)                              // a stop in good order
//
// Invariants:
//
//   - A stream other than that of REPLICA, or of the Lease, is neither followed nor claimed, unless the operator said
//     that it is a new one.
//   - A process counts as behind unless the stream's leader told the end of the stream within the last second, and all
//     up to there was read.
//   - A stream with a setting that loses data is not followed.
//
// # Concurrency
//
// Call Follow, Take and Write in this order, and Release while Write runs. Behind and Watch may run at any time after
// Begin.
//
// Read join.go first, then member.go.
package replicating
