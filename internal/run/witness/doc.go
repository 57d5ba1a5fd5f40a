// Package witness finds out whether a log lacks a record that a witness of the log names.
//
//	is, err := witness.Lacks(log, events.Loss{Witness: events.WitnessLease, Epoch: 1, Sequence: 900, Hash: hash})
//
// A witness is a place outside the log that stores its head, such as the Lease or the copy. The functions are safe for
// concurrent use.
//
// Read witness.go.
package witness
