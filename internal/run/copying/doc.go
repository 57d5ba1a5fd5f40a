// Package copying keeps a copy of a log as the log grows, for as long as its controller runs.
//
//	copier, err := copying.New(copying.Config{
//		Dir: dir, Log: log, Durable: opened.Durable, Written: written, Place: place, Logger: logger,
//	})
//	err = copier.Run(ctx)
//
// [Copier] is the consumer "copy" of a log. Its offset is the last record up to which the copy is complete; the log
// does not prune later records while it has space. A durable record is in the copy after 5 seconds, or as soon as about
// 1 MiB is waiting. Invariants:
//
//   - The controller never waits for the destination of the copy. While it cannot be reached, the offset stays;
//     [Copier.Status] says how far behind the copy is, and why.
//   - Without new records it sends no request to the destination.
//   - If the copy has records that the log does not have, copying ends: Config.Ahead is called, and nothing more is
//     written.
//   - Nothing is written to a destination that cannot keep two writers apart, unless Config.Unfenced is set.
//
// # Concurrency
//
// Run has two goroutines: one follows the log, and one writes sealed files. Status is safe for concurrent use.
//
// Read copier.go first, then status.go.
package copying
