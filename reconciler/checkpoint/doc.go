// Package checkpoint stores the state of all Jobs and other subjects in small steps, so that no turn of the loop is
// long:
//
//	for d := range files.Drafts(&turn, now, false) { // into the log's newest file
//		appendAndFold(d)
//	}
//	snapshots.Step(head) // into a snapshot
//
// Once a file of the log has a checkpoint of every subject, it is self-contained: older files may be deleted. A
// snapshot makes the next start quick; losing it does no harm.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use; the loop owns it.
//
// Read files.go first, then snapshots.go.
package checkpoint
