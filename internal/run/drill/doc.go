// Package drill tries a restore: it makes a log of a copy in a directory of its own, checks it, and deletes it.
//
//	report, err := drill.Run(ctx, &drill.Config{Place: place, Decisions: 100_000, Jobs: 20})
//	if err == nil && !report.Passed { ... }
//
// The checks, in this order: the manifest can be read; each object and record is what the manifest says (package
// restore); the log is whole, and ends with the head of the manifest; the newest decisions are made again and are the
// same, and the states that the files store are what the records give; so are the lists of Jobs that the manifest
// names; some Jobs are explained, as the live log explains them as of the same record. Invariants:
//
//   - A check that does not hold is in the Report. The error is for a drill that could not be carried out: it says
//     nothing of the copy.
//   - The directory is new, below an empty one or that of temporary files, and never in a directory with a log or a
//     copy in it. It is deleted however the drill ends; what a killed drill left is deleted by the next one there.
//   - The copy and the live log are only read.
//
// # Concurrency
//
// A run belongs to one goroutine. Several may run at the same time, each in its own directory.
//
// Read run.go first, then space.go, decide.go and answers.go.
package drill
