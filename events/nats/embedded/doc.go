// Package embedded runs a NATS server inside the process: JetStream, on a loopback address, for demonstrations and for a
// single machine.
//
// Invariants:
//
//   - It listens on loopback only. Whoever connects there without a name may read the stream and keep consumers, and can
//     neither publish to the subjects of the stream nor change or delete it; the publisher of this process has a
//     password that is made at each start and told to nobody.
//   - It takes no more of the disk than it was given, because the log may be on the same one.
//
// Who needs more than one machine runs NATS servers of their own.
package embedded
