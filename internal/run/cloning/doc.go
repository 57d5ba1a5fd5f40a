// Package cloning makes a log of the files of another one, also while controllers write that.
//
//	open := func(ctx context.Context) (*cloning.Source, error) { return cloning.OfDirectory(ctx, dir, live) }
//	result, err := cloning.Run(ctx, &cloning.Config{Open: open, To: "clone"})
//
// A Source is a log as of one moment. OfDirectory opens that of a directory; package replicating has one of the replicas
// of a stream. Sealed files come as they are, and the newest file is written from its records. Invariants:
//
//   - Until everything is there and verified, no function opens the target as a log. A call that ends early can be made
//     again; it goes on with the files that are whole.
//   - The clone has the records of the source and the same chain. It has neither its branches nor what ties it to other
//     controllers.
//   - The source is only read.
//
// # Concurrency
//
// A Source belongs to one goroutine.
//
// Read source.go first, then run.go.
package cloning
