// Package memlog is a [store.Log] in memory, for tests and for the simulation.
//
// Records are kept in stored form, so what is read is decoded afresh, as from a disk. With [Manual] nothing is durable
// until [Log.Commit] says so, and [Log.Crash] gives the log that a process would find which died with only some of the
// batches on disk. It starts no goroutine and looks at no clock, so a seed repeats exactly.
//
// Read memlog.go.
package memlog
