// Package beside reads the files of a log, even while a controller writes it.
//
//	log, err := beside.Open(ctx, dir, live)                // live is that controller; nil if none runs
//	file, err := log.File(log.Firsts[0])                   // a sealed file, from the disk
//	for stored, err := range log.Stored(ctx, from, last) { // the newest records: the controller gives them
//	err = log.Close()
//
// It locks nothing and changes nothing. Complete (sealed) files of the log do not change, so it reads them from the
// disk. While a controller runs, the newest file grows: its header is read from the disk, and its records are asked of
// the controller.
//
// # Concurrency
//
// A Log belongs to one goroutine.
package beside
