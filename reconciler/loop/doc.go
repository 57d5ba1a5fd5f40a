// Package loop turns inputs into records and commands: it orders, folds, decides and appends.
//
// [Loop] is a step machine without goroutines. [Run] waits for inputs and drives it; the simulation drives it step by
// step:
//
//	taken, err := l.Turn(now, inputs)    // fold, decide, append one batch
//	tasks, back := l.Durable(sequence)   // commands to send now, commands to withdraw
//	next := l.Wake()                     // when the next turn is due without inputs
//
// A turn drains waiting inputs, fixes sequences and one time, folds the inputs, decides for each subject that they
// touched, and appends the result as one batch.
//
// Invariants:
//
//   - No command leaves the loop before the record of its decision is durable.
//   - Nothing is decided during a listing, or while the log has no room.
//   - The loop's knowledge is the World, a fold of the log; nothing that decisions need is kept in memory alone.
//   - applied (folded) >= durable (may be acted on) >= saved (in the newest snapshot).
//
// # Concurrency
//
// A Loop is not safe for concurrent use; Run owns it.
package loop
