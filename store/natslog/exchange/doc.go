// Package exchange is how the replicas of a replicated log speak to each other: each says once a second how far it is,
// and gives the others files and records that the stream no longer has. It uses core NATS on the connection of the
// stream; nothing of it is stored.
//
//	x, err := exchange.New(config)          // hears the others from now on
//	err = x.Run(ctx, log, own)              // tells and answers, until ctx ends
//	heads := x.Heads()                      // of the others, heard within the last 3 s
//	files, err := x.Files(ctx, who, at)     // what one of them has, and its chain value behind record at
//	err = x.File(who, first)(ctx, w)        // a sealed file, as it is
//	for g, err := range x.Groups(…)         // whole batches, checked against that replica's chain
//
// What a replica says is not believed by itself. Groups checks the records against the chain value before the first;
// whoever fetches a file checks it from end to end, and both against the stream.
//
// # Concurrency
//
// All methods may be called at any time by anybody.
package exchange
