// Package copying keeps a copy of a log as the log grows, for as long as its controller runs.
//
//	copier, err := copying.New(copying.Config{Dir: dir, Log: log, Durable: opened.Durable, Written: written, Place: place, Logger: logger})
//	err = copier.Run(ctx)
//
// [Copier] is the consumer "copy" of a log: its offset says through which record the copy has all, and the log keeps
// files for it while there is room. What is durable is in the copy 5 seconds later, or as soon as about 1 MiB waits.
// Invariants:
//
//   - The controller never waits for the place. While it is away the offset stays; [Copier.Status] says how far behind it is and why.
//   - Without new records nothing is asked of the place.
//   - A copy that has records which the log does not have ends the copying: Config.Ahead is told, and nothing is put any more.
//   - A place that does not tell two writers apart is not written to, unless Config.Unfenced says so.
//
// # Concurrency
//
// Run is two goroutines: one that follows the log, and one that puts sealed files. Status may be called by any
// goroutine at any time.
//
// Read copier.go first, then status.go.
package copying
