// Package stuck says what a Job's pods wait for, since when, and whether the wait ends by itself.
//
// [Find] says why a Job cannot go on. [WaitsFor] lists what a Job that has not ended waits for. [Waited] lists what the
// pods of an ended Job had waited for, and [Meanwhile] says what held a Job up when its deadline passed.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read living.go first, then waitsfor.go.
package stuck
