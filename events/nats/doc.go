// Package nats says what a record looks like on NATS: its subject, its headers and its data. It is what a publisher and
// its subscribers agree on, so it knows neither the NATS client nor a log, and a program can import it without either.
//
// A record becomes one message:
//
//	subject   jobledger.v1.<cluster>.<namespace>.<kind>.<name>.<event>, see [Subject]
//	headers   CloudEvents 1.0, binary mode of the NATS binding (ce-id, ce-type, …), and Nats-Msg-Id; see header.go
//	data      the message PublishedRecord of proto/jobledger/v1/stream.proto, as protobuf or as JSON
//
// Invariants:
//
//   - Every legal Kubernetes name has a subject, as has the absence of one, and a subject is read back exactly.
//   - The same record of the same life of a log has the same ID in every message, and different records have different ones.
//   - The headers alone prove order and completeness: ce-sequence is the place in the log, dense over all subjects of a
//     cluster; ce-previous the record before it of the same Job (or other stream); ce-floor says from where on nothing was
//     left out. See [Head].
//   - What does not fit into a message is left out of it and said to be; the message itself is never left out.
//
// # Concurrency
//
// An [Encoder] belongs to one goroutine. Everything else may be used by any.
//
// Read subject.go first, then header.go, then data.go.
package nats
