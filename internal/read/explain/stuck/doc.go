// Package stuck says what a Job's pods wait for, since when, and whether the wait ends by itself.
//
// [Find] says why a Job does not go on. [WaitsFor] lists all that a Job which goes on waits for, [Waited] what the
// pods of a Job that is over had waited for, [Meanwhile] what held it up when its deadline passed.
//
// # Concurrency
//
// Nothing in this package is safe for concurrent use.
//
// Read living.go first, then waitsfor.go.
package stuck
