// Package watch says again how objects are, whenever a batch of records changes what is said of them: what -w of a
// question does. An object is one of a list, or the only one that is asked for. Invariants:
//
//   - An object is shown once for each batch at most, and only if something else is said of it than when it was shown last.
//   - Whoever asks first and follows from the end of the log that it took before ([EndOf]) misses no change.
//
// Start at [Shown.Follow].
//
// # Concurrency
//
// A Shown belongs to one goroutine.
package watch
