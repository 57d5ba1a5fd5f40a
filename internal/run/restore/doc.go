// Package restore makes a log from a copy, in an empty directory. It checks every object as it arrives.
//
//	plan, err := restore.Make(ctx, &restore.Config{Place: place, Dir: dir})
//	result, err := plan.Run(ctx)
//
// A sealed file is copied as it is; the file that was being written is rebuilt from its segments. Each object must have
// the bytes that the manifest names, and its records must continue the chain on both sides. Invariants:
//
//   - The directory is no log before it is complete: until then a file in it says that a restore has not ended, and no
//     function opens it. The next run reuses the complete files.
//   - A damaged or missing object ends the restore. The error names it, and the record up to which the copy is whole
//     before it.
//   - A log restored to a record before the end of the copy notes this beside itself (HEAD): a controller continues it
//     only under another epoch.
//
// # Concurrency
//
// A Plan belongs to one goroutine.
//
// Read plan.go first, then run.go.
package restore
