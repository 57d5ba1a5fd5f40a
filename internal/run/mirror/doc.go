// Package mirror keeps a copy of a controller's log, which it reads over the network, and answers readers from it. So a
// controller answers no question, and a reader that is overrun takes nothing from it but what the copy costs.
//
//	m, err := mirror.New(mirror.Config{Dir: dir, Clients: clients, Clock: time.Now})
//	go m.Run(ctx)                      // each second: who leads, and what is new
//	opened, err := m.Open(ctx, d, note)
//
// The controller that holds its Lease is asked. Where none says that it does, the one with the newest head of the log
// that the copy is of is asked, and each answer says so.
//
// # What an answer is as of
//
//   - While a controller answers, and the copy has its head, an answer is of now, by the controller's clock.
//   - While the copy is behind, it is as of the copy's newest record, and says how far it is.
//   - While no controller answers, it is as of when one answered last, and says since when, and which record is the
//     newest that is known.
//
// Invariants:
//
//   - The copy has the records of the log as they are stored there, in files that begin where those of the log do. The
//     chain is compared at the end of each part that comes.
//   - A copy that the controller's log does not go on from is thrown away, and begun again: it is derived, and the log
//     is not. Nothing but the folder "mirror" in Config.Dir is ever removed.
//   - Files that the controller let go, go here, too.
//
// # Concurrency
//
// A Mirror is run by one goroutine. Open may be called by any.
//
// Read mirror.go first, then follow.go and keep.go.
package mirror
