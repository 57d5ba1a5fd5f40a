// Package witness detects that a log has lost records. A witness is something outside the log that stores which record
// was the log's last, such as the Lease or the copy of the log.
//
//	is, err := witness.Lacks(log, events.Loss{Witness: events.WitnessLease, Epoch: 1, Sequence: 900, Hash: hash})
//
// The functions are safe for concurrent use.
//
// Read witness.go.
package witness
