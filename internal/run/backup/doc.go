// Package backup copies a log to a place, and later only what is new: sealed files as they are, and the file that is
// being written as segments.
//
//	result, err := backup.Run(ctx, &backup.Config{Dir: dir, Place: place, Live: ask})
//
// It runs beside a controller, or on a log that no process writes. It reads sealed files from the disk, and asks the
// controller for the newest records. It locks nothing, and changes nothing in the log's directory. Invariants:
//
//   - The copy is whole at every moment: an object is put before the manifest that names it. A run that ends early
//     leaves the copy at an earlier head, with objects that the next run finds.
//   - A copy has one history. A log that is behind the copy or has diverged from it is refused (AheadError), unless an
//     EpochChanged says that the log continued without those records: then the copy continues from what both have in
//     common.
//   - Damage is not copied: each record is checked by its checksum and the chain before it is put.
//
// # Concurrency
//
// A run belongs to one goroutine. If two runs overlap, the manifest that each of them read tells them apart.
//
// Read run.go first, then files.go, tail.go and put.go.
package backup
