// Package drill tests a restore: it makes a log from a copy in a directory of its own, checks it, and deletes it.
//
//	report, err := drill.Run(ctx, &drill.Config{Place: place, Decisions: 100_000, Jobs: 20})
//	if err == nil && !report.Passed { ... }
//
// The checks, in this order: the manifest can be read; each object and record is as the manifest says (package
// restore); the log is whole, and ends with the manifest's head; replaying the newest decisions gives the same
// decisions, and the checkpoints in the files match the records; the lists of Jobs that the manifest names match the
// records; some Jobs get the same explanation as from the live log as of the same record. Invariants:
//
//   - A failed check is in the Report. An error means that the drill could not be carried out, and says nothing about
//     the copy.
//   - The directory is new, inside an empty one or the directory for temporary files, and never inside a directory with
//     a log or a copy. It is deleted however the drill ends; the next drill there deletes what a killed drill left.
//   - The copy and the live log are only read.
//
// # Concurrency
//
// A run belongs to one goroutine. Several runs may go on at the same time, each in its own directory.
//
// Read run.go first, then space.go, decide.go and answers.go.
package drill
