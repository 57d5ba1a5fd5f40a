// Package watch implements -w of a question: it shows an object again whenever a batch of records changes its answer.
// The object is one of a list, or the only object of the question. Invariants:
//
//   - An object is shown at most once for each batch, and only if its answer differs from the one shown last.
//   - To miss no change, take the end of the log first ([EndOf]), then ask, then follow from that end.
//
// Start at [Shown.Follow].
//
// # Concurrency
//
// A Shown belongs to one goroutine.
package watch
