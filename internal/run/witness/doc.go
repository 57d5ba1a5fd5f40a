// Package witness says whether a log lacks a record that a witness of it names.
//
//	is, err := witness.Lacks(log, events.Loss{Witness: events.WitnessLease, Epoch: 1, Sequence: 900, Hash: hash})
//
// A witness is what has seen the log: the Lease, its copy. The functions keep nothing, and any goroutine may call them.
//
// Read witness.go.
package witness
