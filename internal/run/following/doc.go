// Package following makes a process a warm standby of another controller: it copies that controller's log over the
// network into a log of its own, and can then lead with this log. It needs no NATS stream.
//
//	s := following.New(following.Config{Log: dir, Clients: clients, Self: identity, …})
//	logID, err := s.Prepare(ctx, said)   // before the log is opened: drops an end that the leader does not have
//	err = s.Begin(log)                   // with the opened log
//	err = s.Follow(ctx)                  // until ctx ends
//	err = s.Ready(said, own)             // before each try to take the Lease
//	epoch, lost := s.Takeover()          // with the Lease held, after Follow has returned
//
// The copy is asynchronous: the leader does not wait for standbys. So if the leader disappears, its last records may be
// missing here. The Lease shows whether that is possible. Invariants:
//
//   - A new leader continues the log's epoch only if no record can be missing: the previous leader released the Lease
//     and named this log's last record, or it had this very directory. Otherwise the new leader begins the next epoch.
//   - The write that takes the Lease names that epoch, and the API server accepts only one such write. So no two
//     processes begin the same epoch, and each process sees, before it leads, that a later epoch was begun.
//   - Records of this log that the leader's log does not have are set aside as a branch (a folder), and never deleted.
//   - Only records of the leader are appended. If no controller leads, they come from the one with the most records.
//     Each answer is checked against the hash chains of both logs.
//
// # Concurrency
//
// Prepare and Begin come first, one after the other. Then Follow is one goroutine; all other methods are safe for
// concurrent use.
//
// Read standby.go first, then prepare.go, copy.go and ready.go.
package following
