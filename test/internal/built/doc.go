// Package built gives tests the program of this repository. It is built once for all packages, and copied for each.
//
//	path, err := built.Program(ctx, t.TempDir())
//
// # Concurrency
//
// Program is safe for concurrent use, also by several processes: go build replaces the program in one step.
package built
