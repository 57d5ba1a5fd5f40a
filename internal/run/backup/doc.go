// Package backup copies a log to a place, and later what is new of it: sealed files as they are, the file that is
// written as segments.
//
//	result, err := backup.Run(ctx, &backup.Config{Dir: dir, Place: place, Live: ask})
//
// It runs beside a controller, whose sealed files it reads from the disk and whose newest records it asks for, or on a
// log that no process writes. It locks nothing and changes nothing in the directory. Invariants:
//
//   - At each moment the copy is whole: an object is put before the manifest that names it. A run that ends early leaves a copy as of
//     an earlier head, and objects that the next run finds there.
//   - A copy has one history. A log that is behind it, or went another way, is refused (AheadError), unless an EpochChanged says that it
//     went on without those records: then the copy goes on from what both have.
//   - Damage is not copied: each record is read with its checksum and the chain before it goes.
//
// # Concurrency
//
// A run belongs to one goroutine. Two runs at the same moment are told apart by the manifest that each of them read.
//
// Read run.go first, then files.go, tail.go and put.go.
package backup
