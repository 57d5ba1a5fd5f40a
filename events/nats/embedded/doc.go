// Package embedded runs a NATS server with JetStream inside this process, on a loopback address. It is for
// demonstrations and for a single machine; for several machines, run NATS servers of your own.
//
//	server, err := embedded.Start(embedded.Config{Dir: dir, ReaderSecret: file})
//	defer server.Close()
//
// The server has three kinds of clients. The publisher is this process: it writes the stream. Readers are other
// programs, which only read the stream. The owner is the user who may do everything, for example delete consumers.
//
// What readers send passes three parts of this package. The door accepts the connections from outside this process. The
// gate receives the readers' messages, and forwards to JetStream only those that cannot change the stream. The guard
// disconnects a reader that sends more than the gate can forward.
//
// Invariants:
//
//   - The server listens on loopback only, and accepts only clients with a secret. The publisher's secret is created at
//     each start and never leaves this process. The secrets of readers and of the owner are in files.
//   - Readers are in a NATS account of their own, without the stream. Only the gate receives their messages. So no
//     message of a reader gets into the account with the stream by itself, whatever reply subject it names.
//   - Readers cannot delete durable consumers, or consumers whose name they do not know. Of an existing consumer they
//     can change only ack_wait.
//   - Readers can neither delay the publisher nor exhaust memory. The gate forwards requests one after the other, or at
//     a bounded rate. After every few requests for messages, it waits until JetStream has sent all messages that are
//     queued. Readers may delay each other.
//   - Connections from outside do not use up the connections of this process, because the door limits their number.
//   - The server uses no more of the disk than configured, because the log may be on the same disk.
//
// # Concurrency
//
// A [Server] is safe for concurrent use, except Close. The gate has one goroutine for each subject it subscribes to,
// and one that sends requests to JetStream. The guard has one goroutine. The door has one that accepts connections, and
// two for each connection.
//
// Read access.go first, then imports.go, gate.go, consumer.go, pull.go and door.go.
package embedded
