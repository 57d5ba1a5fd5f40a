// Package failpoint ends the process at a chosen point between a decision and its effects, as a power cut would, or
// makes it stand still there, as a suspended machine does.
//
// The points lie on the way of a command: its record is appended, becomes durable, the call is made, its outcome is
// recorded. [Points.Log], [Points.API] and [Points.Groups] wrap the interfaces that all of this passes; no other
// package has code for it. [Points.Place] wraps the place of a copy of the log. Only a build with the tag failpoints has these wrappers, and obeys the environment variable
// [Env]. Invariants:
//
//   - A wrapper changes only when the process ends or stands still: every call passes with its arguments and results
//     unchanged.
//   - The process ends by SIGKILL: no deferred call runs, no buffer is flushed, no lock is released. It stands still by
//     SIGSTOP, and goes on from there when it is continued.
//   - Each passage is counted once: of several goroutines exactly one meets the count.
//
// # Concurrency
//
// Everything is safe for concurrent use, like the wrapped interfaces.
//
// Read next: points.go for the names of the points, and what has happened at each.
package failpoint
