// Package watch implements the flag -w: after the first answer, it shows an object again whenever new records change
// the answer about it. Invariants:
//
//   - Records are stored in batches. An object is shown at most once for each batch, and only if its answer differs
//     from the one shown last.
//   - To miss no change, first get the end of the log ([EndOf]), then ask the question, then follow from that end.
//
// Start at [Shown.Follow].
//
// # Concurrency
//
// A Shown belongs to one goroutine.
package watch
