// Package loop turns inputs into records and commands. It orders inputs, folds them into the state, decides and
// appends.
//
// [Loop] is a state machine without goroutines. [Run] waits for inputs and drives it; the simulation drives it step by
// step:
//
//	taken, err := l.Turn(now, inputs)    // fold, decide, append one batch
//	tasks, back := l.Durable(sequence)   // commands to send now, commands to withdraw
//	next := l.Wake()                     // when the next turn is due without inputs
//
// A turn takes the waiting inputs and gives them sequences and one time. It folds them into the state, decides for each
// subject that they touched, and appends everything as one batch.
//
// Invariants:
//
//   - No command leaves the loop before the record of its decision is durable.
//   - No decision is made during a listing, or while the log has no space.
//   - All knowledge that decisions need is in the World, which is folded from the log; none is kept in memory alone.
//   - applied (folded) >= durable (may be acted on) >= saved (in the newest snapshot).
//
// # Concurrency
//
// A Loop is not safe for concurrent use; Run owns it.
package loop
