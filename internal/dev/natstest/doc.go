// Package natstest has the parts for tests of the NATS stream: a real server that can be stopped and started again, a
// log that grows by the batches of a busy cluster, and a publisher between them. It has no checks; the tests say what
// must be true of the stream.
//
// # Concurrency
//
// A [Server] and a [Ledger] belong to the goroutine of their test. Any goroutine may read the log or talk to the
// server.
//
// Read server.go first.
package natstest
