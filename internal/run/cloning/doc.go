// Package cloning copies the files of a log into a new log, even while controllers write the source.
//
//	open := func(ctx context.Context) (*cloning.Source, error) { return cloning.OfDirectory(ctx, dir, live) }
//	result, err := cloning.Run(ctx, &cloning.Config{Open: open, To: "clone"})
//
// A Source is a log as it was at one moment. OfDirectory makes one of a log's directory; package replicating makes one
// of the replicas of a stream. Complete (sealed) files are copied as they are, and the newest file is written from its
// records. Invariants:
//
//   - Until everything is copied and verified, no function opens the target as a log. A call that ended early can be
//     repeated; it keeps the files that are complete.
//   - The clone has the records of the source and the same hash chain. It does not have the source's branches (ends of
//     the log that were set aside because a new leader did not have them). Nothing ties it to other controllers.
//   - The source is only read.
//
// # Concurrency
//
// A Source belongs to one goroutine.
//
// Read source.go first, then run.go.
package cloning
