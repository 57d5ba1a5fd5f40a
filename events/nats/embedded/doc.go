// Package embedded runs a NATS server with JetStream inside the process, on a loopback address. It is for
// demonstrations and for a single machine; for several machines, run NATS servers of your own.
//
//	server, err := embedded.Start(embedded.Config{Dir: dir, ReaderSecret: file})
//	defer server.Close()
//
// Invariants:
//
//   - It listens on loopback only, and accepts only clients with a secret: the publisher of this process (its secret is
//     created at each start and never leaves it), readers, and the owner (their secrets are in files).
//   - Readers are in an account of their own, without the stream. The gate, a part of this process, receives their
//     messages and forwards only requests that read. So nothing that readers send is published in the stream's account,
//     whatever reply subject they choose. They can change and delete only their own consumers that are not durable.
//   - Readers' requests reach JetStream at a bounded rate, and no faster than it sends messages. So readers can neither
//     delay the publisher nor exhaust memory. They may delay each other. Connections from outside do not use up the
//     connections of this process.
//   - It uses no more of the disk than configured, because the log may be on the same disk.
//
// # Concurrency
//
// A [Server] is safe for concurrent use, except Close. The gate has one goroutine for each subject it subscribes to and
// one that sends requests to JetStream. The guard, which ends connections that send too much, has one. The door, which
// accepts connections, has one, and two for each connection.
//
// Read access.go first, then imports.go, gate.go, consumer.go, pull.go and door.go.
package embedded
