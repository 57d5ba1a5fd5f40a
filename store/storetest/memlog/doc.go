// Package memlog implements [store.Log] in memory, for tests and for the simulation.
//
// It keeps records in stored form, so that each read decodes them, as a read from a disk does. With [Manual], batches
// become durable only when [Log.Commit] is called. [Log.Crash] returns the log that the next process finds if only some
// of the batches have reached the disk:
//
//	log := memlog.New(id, memlog.Manual())
//	log.Append(batch1, true)
//	log.Append(batch2, true)
//	log.Commit(1)
//	next := log.Crash(1) // has batch1 only
//
// It starts no goroutine, and no decision depends on a clock. So a simulation with the same seed repeats exactly.
//
// Read memlog.go.
package memlog
