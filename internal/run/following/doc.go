// Package following makes a process a warm standby of another controller: it copies that controller's log over the
// network into a log of its own, and may lead with it later. No stream is between them.
//
//	s := following.New(following.Config{Log: dir, Clients: clients, Self: identity, …})
//	logID, err := s.Prepare(ctx, said)   // before the log is opened: it ends as the leader's does, or before
//	err = s.Begin(log)                   // with the opened log
//	err = s.Follow(ctx)                  // until ctx ends
//	err = s.Ready(said, own)             // before each try to take the Lease
//	epoch, lost, err := s.Takeover()     // with the Lease held, after Follow has returned
//
// The copy is asynchronous: the leader waits for nobody. So what a leader wrote last may be missing here when it is
// gone. The Lease tells whether that can be. Invariants:
//
//   - A log is led in the epoch that it has only if nothing can be missing: the process before released the Lease with
//     the head that this log has, or it had this very directory. Everyone else begins the next epoch.
//   - The write that takes the Lease has the number of that epoch. The API server takes one such write. So no two
//     processes begin the same epoch, and each sees before it leads that a later one was begun.
//   - What a log has behind the last record in common with the leader's is set aside as a branch, and never deleted.
//   - Only records of the leader, or of the process that has most when none leads, are appended. Each part is checked
//     against the chain of both.
//
// # Concurrency
//
// Prepare and Begin come first, one after the other. Then Follow is one goroutine; all other methods are safe for
// concurrent use.
//
// Read standby.go first, then prepare.go, copy.go and ready.go.
package following
