// Package events says what can happen to Jobs and how it is written down.
//
// A [Record] is one entry of the log: a [Header] that is fixed for ever, [Facts], which are all that a decision
// reads, and [Evidence], which is what people want to know beside them. Records come in batches, one per turn of the
// controller's loop, and a batch is atomic. Invariants:
//
//   - Sequences are dense and begin with 1; a [Stream] links its records through Header.Previous.
//   - All records of a [Batch] bear one time, and only the last bears the end mark.
//   - [Encode] and [Decode] are inverse, and the same record encodes to the same bytes, so decisions compare by bytes.
//   - The [Chain] covers the header bytes and the salted digests of both parts: evidence can be erased, and it verifies.
//
// The package does no I/O and knows no clock. wire.go and its neighbours are the only translators between these types
// and the generated ones under proto/gen.
//
// Read record.go first, then kind.go, then projector.
package events
