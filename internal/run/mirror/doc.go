// Package mirror keeps a copy of a controller's log, which it reads over the network, and answers readers from this
// copy. So the controller answers no questions of users, and many readers cost it no more than one copy.
//
//	m, err := mirror.New(mirror.Config{Dir: dir, Clients: clients, Clock: time.Now})
//	go m.Run(ctx)                      // each second: which controller leads, and which records are new
//	opened, err := m.Open(ctx, d, note)
//
// The mirror copies from the controller that holds its Lease. If none says so, it copies from the controller that has
// the same log with the most records, and each answer notes this.
//
// # The time of an answer
//
//   - While a controller answers and the copy has all its records, an answer is as of now, by the controller's clock.
//   - While the copy is behind, an answer is as of the copy's newest record, and says how far behind it is.
//   - While no controller answers, an answer is as of the last contact. It says when that was, and which is the newest
//     known record.
//
// Invariants:
//
//   - The copy has the log's records as stored, in files that begin at the same records. The hash chain is compared at
//     the end of each received answer.
//   - If the controller's log has other records than the copy, the copy is deleted and begun again: it can be copied
//     again, and the log could not. Only the folder "mirror" in Config.Dir is ever removed.
//   - When the controller prunes files, the copy's files are pruned, too.
//
// # Concurrency
//
// One goroutine runs a Mirror. Open is safe for concurrent use.
//
// Read mirror.go first, then follow.go and keep.go.
package mirror
