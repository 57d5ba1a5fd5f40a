// Package exchange lets the replicas of a replicated log talk to each other. Once a second each replica announces its
// head. On request it sends others the files and records that the stream no longer has. The messages use core NATS on
// the stream's connection, and are not stored.
//
//	x, err := exchange.New(config)          // receives the others' heads from now on
//	err = x.Run(ctx, log, own)              // announces its head and answers, until ctx ends
//	heads := x.Heads()                      // of other replicas heard within the last 3 s
//	heads, err := x.Survey(ctx, enough)     // asks all for their heads now
//	files, err := x.Files(ctx, who, at)     // files of replica who, and its chain value behind record at
//	err = x.File(who, first)(ctx, w)        // the bytes of a sealed file
//	for g, err := range x.Groups(…)         // whole batches, checked against that replica's chain
//
// A head counts only with a seal by the log's key, so that nobody who can merely use the NATS account makes a head. A
// replica does not trust another replica's word. Groups checks the records against the chain value before the first;
// a caller of File checks the file from end to end; and both are compared with the stream.
//
// # Concurrency
//
// All methods are safe for concurrent use.
package exchange
