// Package replicating makes a process a member of a replicated log: one of several processes that each have a copy
// (replica) of the same log. It finds or creates the NATS stream that carries the records, copies the records into the
// process's own log, and takes over the writing when the process leads.
//
//	m, err := replicating.Join(ctx, config, own)      // NATS answers; the stream is the right one, with safe settings
//	log, err := open.Log(dir, m.Options(options))     // the process's own log
//	err = m.Begin(ctx, log)                           // writes the file REPLICA into the log's directory
//	err = m.Follow(following)                         // a standby: until the context following ends
//	err = m.Behind()                                  // meanwhile: why the Lease may not be taken; nil if it may
//	term, err := m.Take(ctx, holds)                   // after Follow: this process is the stream's only writer
//	err = m.Write(writing)                            // beside the loop on m.Log(log); an error ends the process
//	err = m.Release(ctx)                              // at a clean stop
//
// Invariants:
//
//   - Only the stream that the file REPLICA or the Lease names is read and written, unless the operator said that
//     there is a new one.
//   - A process counts as behind unless NATS named the end of the stream within the last second, and the process has
//     read everything up to there.
//   - A stream with a setting that can lose data is not used.
//
// # Concurrency
//
// Call Follow, Take and Write in this order, and Release while Write runs. Behind and Watch may run at any time after
// Begin.
//
// Read join.go first, then member.go.
package replicating
