// Package natstest has what tests of the NATS stream need: a real server that can be stopped and started again, a log
// that grows by the batches of a busy cluster, and a publisher between them. It checks nothing itself.
//
// # Concurrency
//
// A [Server] and a [Ledger] belong to the goroutine of their test. Any goroutine may read the log or talk to the
// server.
//
// Read server.go first.
package natstest
