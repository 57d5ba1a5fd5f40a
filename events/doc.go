// Package events defines the records of the log: what can happen to Jobs, and how it is stored.
//
// A [Record] has three parts. The [Header] gives its place in the log; its wire form never changes. [Facts] hold all
// that a decision reads. [Evidence] holds what people want to know besides: names, messages, free text. For example, a
// record of a failed pod has the phase and the exit code as facts, and the termination message as evidence.
//
// One turn of the controller's loop appends one [Batch] of records, which is stored whole or not at all.
//
//	stored, err := events.AppendRecord(nil, &record)
//	record, err := events.DecodeRecord(stored)
//	next, err := hash.Next(stored) // chain value after the record
//
// Invariants:
//
//   - Sequences, the places in the log, are dense and begin with 1. A [Stream] is a set of related records, such as
//     those of one Job; Header.Previous links them.
//   - All records of a [Batch] have the same time, and only the last one has the end mark.
//   - [AppendRecord] and [DecodeRecord] are inverse. The same record always encodes to the same bytes, so two decisions
//     are equal when their bytes are.
//   - The hash chain ([Hash]) covers the header bytes and the salted digests of facts and evidence. So evidence can be
//     erased, and the chain still verifies.
//
// The package does no I/O and reads no clock. Only wire.go and the files named wire_ translate between these types and
// the generated ones under proto/gen.
//
// Read record.go first, then kind.go, then package projector.
package events
