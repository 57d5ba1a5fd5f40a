// Package watch implements the flag -w: after the first answer, it shows an object again whenever new records change
// the answer about it.
//
//	end, err := watch.EndOf(ctx, src, true) // first the end of the log: no change is missed
//	…                                       // then ask the question, and show the answer
//	err = shown.Follow(ctx, src, live, end+1, one, show)
//
// Invariant: records are stored in batches. An object is shown at most once for each batch, and only if its answer
// differs from the one shown last.
//
// Start at [Shown.Follow].
//
// # Concurrency
//
// A Shown belongs to one goroutine.
package watch
