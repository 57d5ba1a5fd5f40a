// Package backup copies a log to a directory or a bucket, and later only what is new. It copies complete (sealed) files
// of the log as they are, and the file that is being written in pieces, called segments. The manifest is the copy's
// list of its objects.
//
//	result, err := backup.Run(ctx, &backup.Config{Dir: dir, Place: place, Live: ask})
//
// It runs beside a controller, or on a log that no process writes. It reads sealed files from the disk, and asks the
// controller for the newest records. It locks nothing, and changes nothing in the log's directory. Invariants:
//
//   - The copy is complete at every moment: an object is written before the manifest that names it. A run that ends
//     early leaves the copy at an earlier record; the next run uses the objects that it wrote.
//   - A copy has one history. A log that is behind the copy or has diverged from it is refused (AheadError). The
//     exception is a log with a record EpochChanged, which says that the log lost records and continued without them:
//     then the copy keeps the records that both have, and continues from there.
//   - Damage is not copied: each record is checked against its checksum and the hash chain before it is written.
//
// # Concurrency
//
// A run belongs to one goroutine. If two runs overlap, only one can replace the manifest that both of them read; the
// other one starts again.
//
// Read run.go first, then files.go, tail.go and put.go.
package backup
