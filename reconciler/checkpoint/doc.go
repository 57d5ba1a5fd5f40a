// Package checkpoint stores the state of all subjects in small steps, so that no turn of the loop is long:
//
//	for d := range files.Drafts(&turn, now, false) { // into the log's newest file
//		appendAndFold(d)
//	}
//	snapshots.Step(head) // into a snapshot
//
// With a checkpoint of every subject a file of the log is self-contained: older files may be deleted. A snapshot
// makes the next start quick, and is safe to lose.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use; the loop owns it.
//
// Read files.go first, then snapshots.go.
package checkpoint
