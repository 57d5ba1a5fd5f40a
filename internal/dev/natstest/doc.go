// Package natstest is the world that tests of the NATS stream live in: a real server that can go away and come back, a
// log that grows by the batches of a busy cluster, and a publisher between them. It holds no checks; what should be
// true of the stream is said by the tests.
//
// # Concurrency
//
// A [Server] and a [Ledger] belong to the goroutine of their test; what reads the log or talks to the server may be
// any.
//
// Read server.go first.
package natstest
