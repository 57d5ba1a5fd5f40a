// Package commit is the group commit that the backends of the log share: which batches go into one commit, when it
// begins, and what each batch hears of it.
//
//   - Batches leave the queue in the order in which they came, and end in that order.
//   - A commit begins at once when one of its batches is urgent. Else batches ride together, for at most 100 ms or 64 KiB.
//   - Offsets of consumers ride with the next commit. They cause none, but when the log closes.
//   - After a commit failed, all that waits fails with it, and so does all that comes after.
//
// A [Queue] has no goroutine and reads no file: a simulation takes groups from it by hand. [Queue.Run] is the loop of a
// backend that commits in a goroutine of its own.
//
// # Concurrency
//
// A Queue has no lock. The backend guards it with the lock of its own state, and holds that lock in every call but Run,
// which takes it.
package commit
