// Package mirror keeps a copy of a controller's log, read over the network, and serves readers from it. So the
// controller answers no questions, and readers under load cost it no more than the copy.
//
//	m, err := mirror.New(mirror.Config{Dir: dir, Clients: clients, Clock: time.Now})
//	go m.Run(ctx)                      // each second: who leads, and what is new
//	opened, err := m.Open(ctx, d, note)
//
// The mirror copies from the controller that holds its Lease. If none says that it does, it copies from the controller
// with the newest head of the same log, and each answer notes this.
//
// # As of when an answer is
//
//   - While a controller answers and the copy has its head, an answer is as of now, by the controller's clock.
//   - While the copy is behind, an answer is as of the copy's newest record, and says how far behind it is.
//   - While no controller answers, an answer is as of the last contact. It says when that was, and which record is the
//     newest known.
//
// Invariants:
//
//   - The copy has the log's records as stored, in files that begin at the same records. The chain is compared at the
//     end of each received part.
//   - If the controller's log does not continue the copy, the copy is deleted and begun again: it is derived data, and
//     the log is not. Nothing but the folder "mirror" in Config.Dir is ever removed.
//   - Files that the controller prunes are pruned in the copy, too.
//
// # Concurrency
//
// One goroutine runs a Mirror. Open is safe for concurrent use.
//
// Read mirror.go first, then follow.go and keep.go.
package mirror
