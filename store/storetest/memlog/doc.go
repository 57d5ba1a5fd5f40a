// Package memlog implements [store.Log] in memory, for tests and for the simulation.
//
// It keeps records in stored form, so each read decodes them, as from a disk. With [Manual], batches become durable
// only in [Log.Commit]. [Log.Crash] returns the log that the next process finds when only some of the batches reached
// the disk:
//
//	log := memlog.New(id, memlog.Manual())
//	log.Append(batch1, true)
//	log.Append(batch2, true)
//	log.Commit(1)
//	next := log.Crash(1) // has batch1 only
//
// It starts no goroutine and reads no clock for decisions, so a simulation with the same seed repeats exactly.
//
// Read memlog.go.
package memlog
