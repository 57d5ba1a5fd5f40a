// Package restore makes a log from a copy (a backup), in an empty directory. It checks every object as it arrives.
//
//	plan, err := restore.Make(ctx, &restore.Config{Place: place, Dir: dir})
//	result, err := plan.Run(ctx)
//
// A complete (sealed) file of the log is copied as it is; the file that was being written is rebuilt from its pieces
// (segments). Each object must have the bytes that the manifest names, and its records must continue the hash chain on
// both sides. Invariants:
//
//   - Until it is complete, the directory is not a log: it contains a file that says that a restore is going on, and
//     no function opens it. The next run reuses the files that are complete.
//   - A damaged or missing object ends the restore. The error names the object, and the last record that can be
//     restored without it.
//   - A log that was restored to a record before the end of the copy says so in its file HEAD: a controller continues
//     it only under another epoch.
//
// # Concurrency
//
// A Plan belongs to one goroutine.
//
// Read plan.go first, then run.go.
package restore
