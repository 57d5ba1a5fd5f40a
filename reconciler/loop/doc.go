// Package loop orders, folds, decides and appends: it is where facts become decisions and decisions become records.
//
// [Loop] is a step machine without goroutines. A turn drains what is waiting, fixes the sequences and one time, folds
// the inputs, decides for each Job they touched, and appends all of it as one batch ([Loop.Turn]). When the batch is
// durable, its commands may be carried out ([Loop.Durable]). [Run] is a thin wrapper that waits; the simulation drives
// the machine step by step instead. Invariants:
//
//   - No command leaves the loop before the record that decided it is durable.
//   - While a listing is open, or the log has no room, nothing is decided.
//   - What the loop knows is the World, and the World is a fold of the log: nothing is remembered in memory alone.
//   - applied (folded into memory) >= durable (may be acted on) >= saved (covered by the newest snapshot).
//
// # Concurrency
//
// A Loop is not safe for concurrent use; Run owns it.
package loop
