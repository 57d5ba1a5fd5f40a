// Package built gives tests the program of this repository: built once for all packages, and copied for each.
//
//	path, err := built.Program(ctx, t.TempDir())
//
// # Concurrency
//
// Program may be called at any time by anybody: go build puts the whole program in the place of the one before.
package built
