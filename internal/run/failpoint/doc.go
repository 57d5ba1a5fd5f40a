// Package failpoint ends the process at a chosen place between a decision and what comes of it, as a power cut would.
//
// The places lie on the way of a command: its record is appended, becomes durable, the call is made, its outcome is
// recorded. [Points.Log], [Points.API] and [Points.Groups] wrap the interfaces through which all of that passes; no
// other package has code for it. The program has these wrappers only when it is built with the tag failpoints, and
// obeys the environment variable [Env] then. Invariants:
//
//   - A wrapper changes nothing but when the process ends: every call goes through with the arguments and answers it had.
//   - The end is SIGKILL: no deferred call runs, no buffer is flushed, no lock is given back in good order.
//   - What passes once per passage is counted once: of several goroutines exactly one meets the count.
//
// # Concurrency
//
// All of it may be used from any goroutine, as the interfaces it wraps.
//
// Read next: points.go for the names and what has happened at each.
package failpoint
