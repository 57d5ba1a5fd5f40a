// Package exchange lets the replicas of a replicated log communicate. Each replica announces its head once a second. On
// request it sends files and records that the stream no longer has. The messages use core NATS on the stream's
// connection, and are not stored.
//
//	x, err := exchange.New(config)          // receives the heads of other replicas from now on
//	err = x.Run(ctx, log, own)              // announces its head and answers requests, until ctx ends
//	heads := x.Heads()                      // heads of other replicas that arrived within the last 3 s
//	heads, err := x.Survey(ctx, enough)     // asks all replicas for their heads now
//	files, err := x.Files(ctx, who, at)     // files of replica who, and its chain value after record at
//	err = x.File(who, first)(ctx, w)        // the bytes of a sealed file
//	for g, err := range x.Groups(…)         // whole batches, checked against that replica's chain
//
// A head must be sealed with the log's key. So a client that only has access to the NATS account cannot fake a head. A
// replica does not trust other replicas: Groups checks the records against the chain value before the first one, and a
// caller of File verifies the whole file. The caller also compares both with the stream.
//
// # Concurrency
//
// All methods are safe for concurrent use.
package exchange
