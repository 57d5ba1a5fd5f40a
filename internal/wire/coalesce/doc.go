// Package coalesce does at once what a connection to the API server can do at once: writes, and under load also reads.
//
// net/http2 writes a request's header and flushes it, and then its body and flushes that. The first of these two wakes
// the API server, which takes the processor where it runs on the same machine, so that the body followed half a
// millisecond later. On any machine it is a system call, a packet and a wake-up too many. So writes that follow each
// other at once are one.
//
// The API server sends each watch event and each answer by itself. A controller that makes three hundred pods a second
// was woken two thousand times a second by that, and each time Go woke a thread to read, another that looks after
// blocked calls, and the loop for a turn of its own. That took a quarter of its CPU. So while many requests are
// unanswered, what comes is read every few milliseconds. Few unanswered requests are a controller that waits for the
// server, and there each read is made at once.
//
// Invariants:
//   - All bytes that were taken are written in their order, or the connection is closed.
//   - Of a Traffic with May no write(2) begins while May says no: the connection is reset instead.
//   - No more wait to be written than 64 KiB and one write.
//   - No write waits for a timer: what waits is written as soon as the writer has its turn.
//   - No read waits longer than one period, and none for a while after one that filled the buffer: a long list is not held up.
//
// Concurrency: a connection has one goroutine that writes. It ends with Close, or with the first write that fails. As
// with TLS, one goroutine at a time reads. A Traffic is safe for concurrent use.
//
// It begins in traffic.go. internal/run/controller makes the connections to the API server with it.
package coalesce
