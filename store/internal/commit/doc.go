// Package commit implements the group commit for all backends of the log. It decides which batches form a commit, when
// the commit begins, and what result each batch gets.
//
//   - Batches leave the queue in the order of Push, and get their results in this order.
//   - A commit begins at once if one of its batches is urgent. Otherwise it waits for more batches, at most 100 ms or
//     until 64 KiB wait.
//   - Offsets of consumers are part of the next commit. They cause no commit, except when the log closes.
//   - After a failed commit, all waiting and all later batches fail.
//
// A [Queue] has no goroutine and does no I/O, so a simulation can take groups from it one by one. [Queue.Run] is the
// commit loop for a backend that has a goroutine for commits.
//
// # Concurrency
//
// A Queue has no lock. The backend guards it with a lock of its own. It must hold this lock in every call except Run
// and Pause, which take the lock themselves.
package commit
