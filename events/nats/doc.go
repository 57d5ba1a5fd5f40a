// Package nats defines the form of a record on NATS: subject, headers and data. Publisher and subscribers share it. It
// imports neither the NATS client nor a log, so any program can use it.
//
// A record becomes one message:
//
//	subject   jobledger.v1.<cluster>.<namespace>.<kind>.<name>.<event>, see [Subject]
//	headers   CloudEvents 1.0, binary mode of the NATS binding (ce-id, ce-type, …), and Nats-Msg-Id; see header.go
//	data      the message PublishedRecord of proto/jobledger/v1/stream.proto, as protobuf or as JSON
//
// For example, the Job demo/report of the cluster prod completes, and the record JobRetired has the subject
//
//	jobledger.v1.prod.demo.job.report.JobRetired
//
// Invariants:
//
//   - Every valid Kubernetes name can be part of a subject, and so can a missing name. [ParseSubject] restores it
//     exactly.
//   - Each message of one record of one epoch (life of the log) has the same ID. Different records have different IDs.
//   - The headers alone prove order and completeness. ce-sequence is the place in the log, dense over all subjects of a
//     cluster. ce-previous is the previous record of the same Job or other stream. ce-floor is the sequence from which
//     on nothing was left out. See [Head].
//   - A part that does not fit into a message is omitted, and the message says so. The message itself is never omitted.
//
// # Concurrency
//
// An [Encoder] belongs to one goroutine. Any goroutine may use everything else.
//
// Read subject.go first, then header.go, then data.go.
package nats
