// Package drill tests a restore: it restores a copy into a new directory, checks the resulting log, and deletes it.
//
//	report, err := drill.Run(ctx, &drill.Config{Place: place, Decisions: 100_000, Jobs: 20})
//	if err == nil && !report.Passed { ... }
//
// The checks, in this order: the manifest can be read; each object and record is as the manifest says (package
// restore); the log is complete, and ends with the manifest's last record; replaying the newest decisions gives the
// same decisions, and the checkpoints in the files match the records; the lists of Jobs that the manifest names match
// the records; the explanations of some Jobs are the same as those of the live log (the log that was copied) at the
// same record. Invariants:
//
//   - A failed check is in the Report. An error means that the drill could not be carried out, and says nothing about
//     the copy.
//   - The directory is new, inside an empty one or the directory for temporary files, and never inside a directory
//     with a log or a copy. It is deleted however the drill ends. If a drill is killed, the next drill in the same
//     place deletes its directory.
//   - The copy and the live log are only read.
//
// # Concurrency
//
// A run belongs to one goroutine. Several runs may go on at the same time, each in its own directory.
//
// Read run.go first, then space.go, decide.go and answers.go.
package drill
