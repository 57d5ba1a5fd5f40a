// Package try has one attempt at a Job's work: a pod, as the records show it from its first record to its last.
//
// [Try.See] processes a record of the pod. A Try then answers questions about itself: what it waited for, when it ran,
// how its containers ended. Package ending says what ended a Try, because for this one must know the Job, too.
//
// A Try reads no log. Times are by our clock if a [explain.Mark] has them, otherwise by the clock that the field
// names.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read try.go first, then waits.go and ended.go.
package try
