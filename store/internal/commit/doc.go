// Package commit implements the group commit that the backends of the log share: it decides which batches form a
// commit, when the commit begins, and what each batch is told.
//
//   - Batches leave the queue, and end, in the order of their Push.
//   - A commit begins at once when one of its batches is urgent. Otherwise it waits for more, at most 100 ms or until
//     64 KiB wait.
//   - Offsets of consumers are part of the next commit. They cause no commit, except when the log closes.
//   - After a failed commit, all waiting and all later batches fail.
//
// A [Queue] has no goroutine and does no I/O, so a simulation can take groups from it step by step. [Queue.Run] is the
// loop of a backend with a goroutine for commits.
//
// # Concurrency
//
// A Queue has no lock. The backend guards it with its own lock, which it must hold in every call except Run and Pause,
// which lock it themselves.
package commit
