// Package restore makes a log of a copy: in an empty directory, with every object checked as it comes.
//
//	plan, err := restore.Make(ctx, &restore.Config{Place: place, Dir: dir})
//	result, err := plan.Run(ctx)
//
// A sealed file comes as it is; the file that was written is written again from its segments. Each object must have the
// bytes that the manifest names, and its records the chain that leads from those before it to those behind it.
// Invariants:
//
//   - Nothing is a log before all of it is there: until then the directory says that a restore has not ended, and nothing opens it. The
//     next run goes on with the files that are whole.
//   - What is damaged or missing ends the restore with its name, and with the record up to which the copy is whole before it.
//   - A log that is restored to an earlier record than the copy's last says so beside itself (HEAD): no controller goes on with it but
//     under another epoch.
//
// # Concurrency
//
// A Plan belongs to one goroutine.
//
// Read plan.go first, then run.go.
package restore
