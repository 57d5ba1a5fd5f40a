// Package coalesce joins writes of a connection that follow each other at once.
//
// net/http2 writes a request's header and flushes it, and then its body and flushes that. The first of these two wakes the API server,
// which takes the processor where it runs on the same machine, so that the body followed half a millisecond later. On any machine it
// is a system call, a packet and a wake-up too many.
//
// Invariants:
//   - All bytes that were taken are written in their order, or the connection is closed.
//   - No more wait than 64 KiB and one write.
//   - Nothing waits for a timer: what waits is written as soon as the writer has its turn.
//
// Concurrency: a connection has one goroutine that writes. It ends with Close, or with the first write that fails.
//
// It begins in conn.go. internal/controller makes the connections to the API server with it.
package coalesce
