// Package trigger is how a user asks for a run of a CronJob now: the value of an annotation on it. The user writes it
// by their own right, because no port of ours takes writes. The controller reads it, and carries each value out once.
//
// A value says when it was written, by the clock of who wrote it, and by whom. Both are the writer's word: whoever may
// change the CronJob may write anything.
//
// # Concurrency
//
// Its functions may be called from any goroutine. [github.com/jobledger/jobledger/internal/run/triggering] writes the
// annotation.
package trigger
