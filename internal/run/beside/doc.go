// Package beside reads the files of a log, also while a controller writes it.
//
//	log, err := beside.Open(ctx, dir, live)                // live is that controller; nil if no process writes the log
//	file, err := log.File(log.Firsts[0])                   // a sealed file, from the disk
//	for stored, err := range log.Stored(ctx, from, last) { // the newest records: the controller gives them
//	err = log.Close()
//
// It locks nothing and changes nothing. Sealed files do not change, so they are read from the disk. The newest file of a
// running controller does: its beginning is read from the disk, its records come from the controller.
//
// # Concurrency
//
// A Log belongs to one goroutine.
package beside
