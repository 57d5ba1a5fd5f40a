// Package projector folds records into the state of each Job.
//
// [World] is everything that one log says. It holds a [Subject] for each stream, which is all that a decision reads: a
// [Job], what is kept of one that has [Retired], or the [Strays] of a namespace. Folding is a function: the same
// records give the same state on any machine, from a snapshot or from the first record, and in either order of a
// command's outcome and its observation. Invariants:
//
//   - Apply cannot fail: records are validated when they are decoded. It mutates in place, and its cost depends on what
//     the record changes, not on how many pods or indexes the Job has.
//   - The newest observed status is the published base ([Status]); on top come only pods that still carry the finalizer.
//   - Versions of an object only go forward, but across a proven rewind, at which everything is forgotten.
//   - Everything that waits (backoff, refusals, commands in flight) is here, as a time that moves when the clock is set.
//
// [Intake] turns observations into records: it routes them to streams, drops what the log knows already, and finds what
// went missing while no controller watched.
//
// # Concurrency
//
// World and its subjects are not safe for concurrent use; the loop owns them.
//
// Read subject.go and job.go first, then apply.go, then package reconciler.
package projector
