// Package embedded runs a NATS server inside the process: JetStream, on a loopback address, for demonstrations and for
// a single machine.
//
// Invariants:
//
//   - It listens on loopback only, and accepts clients with a secret: the publisher of this process (its secret is made at each start and
//     never leaves it), readers, and the owner (their secrets are in files).
//   - Readers are in an account of their own, in which there is no stream. A gate in this process hears what they send, and passes on
//     requests that read. So whatever they send, and wherever they want the answers, nothing of it is published in the account with
//     the stream; they change and delete nothing there but consumers of their own that are not durable.
//   - What readers ask for reaches JetStream at a bounded rate, and no faster than it sends messages, so they neither hold up the publisher nor
//     fill the memory. They may hold up each other. Connections from outside take no places of those of this process.
//   - It takes no more of the disk than it was given, because the log may be on the same one.
//
// Who needs more than one machine runs NATS servers of their own.
//
// # Concurrency
//
// A [Server] is safe for concurrent use, except Close. The gate has a goroutine for each subject it listens at, and one
// that asks JetStream; the guard, which ends connections that send too much, has one; the door has one, and two for
// each connection.
//
// Read access.go first, then imports.go, gate.go, consumer.go, pull.go and door.go.
package embedded
