// Package failpoint makes a process end at a chosen point between a decision and its effects, as in a power cut, or
// stop there, as on a suspended machine. Crash tests use it.
//
// A command passes the points in this order: its record is appended and becomes durable, the call is made, its outcome
// is recorded. [Points.Log], [Points.API] and [Points.Groups] wrap the interfaces for these steps; no other package has
// code for it. [Points.Place] wraps the destination of the log's copy. Only a build with the tag failpoints uses these
// wrappers, and obeys the environment variable [Env]. Invariants:
//
//   - A wrapper only changes when the process ends or stops: every call passes with its arguments and results
//     unchanged.
//   - The process ends by SIGKILL: no deferred call runs, no buffer is flushed, no lock is released. It stops by
//     SIGSTOP, and continues at the same point after SIGCONT.
//   - Each passage is counted once. If several goroutines pass a point, exactly one of them reaches the chosen count.
//
// # Concurrency
//
// Everything is safe for concurrent use, like the wrapped interfaces.
//
// Read next: points.go for the names of the points, and for what has happened at each.
package failpoint
