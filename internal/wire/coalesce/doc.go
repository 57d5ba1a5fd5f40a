// Package coalesce joins the writes of a connection to the API server, and under load also its reads.
//
// net/http2 flushes the header of a request, then its body. On the same machine, the first flush wakes the API server,
// which takes the processor and delays the body by half a millisecond. On any machine, it costs one more system call,
// packet and wakeup. So Write only queues bytes, and a writer goroutine sends consecutive writes as one.
//
// The API server sends each watch event and each answer separately. A controller that makes three hundred pods a second
// was woken two thousand times a second, and each time Go woke a thread to read, another that looks after blocked
// calls, and the loop for a turn of its own. That took a quarter of its CPU. So while more than 4 requests are
// unanswered, the connection is read every 8 ms at most. With fewer, the controller is waiting for the server, and each
// read is immediate.
//
// Invariants:
//   - All bytes that Write accepted are sent in order, or the connection is closed.
//   - If a Traffic has May, no write(2) begins while May returns false: the connection is reset instead.
//   - At most 64 KiB and one write are queued.
//   - No write waits for a timer: the queue is sent as soon as the writer goroutine runs.
//   - No read waits longer than one period. After a read that filled the buffer, no read waits for a while, so that a
//     long list is not delayed.
//
// Concurrency: each connection has one writer goroutine. It ends with Close, or with the first write that fails. As
// with TLS, one goroutine at a time may read. A Traffic is safe for concurrent use.
//
// It begins in traffic.go. internal/run/controller makes the connections to the API server with it.
package coalesce
