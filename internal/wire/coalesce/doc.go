// Package coalesce makes fewer system calls on the connections to the API server: it joins writes, and under load also
// reads.
//
//	var t coalesce.Traffic
//	config.Dial = t.Dial(dialer.DialContext) // connections with joined writes and reads
//	config.Wrap(t.Count)                     // counts requests, to know the load
//
// Writes: net/http2 sends the header of a request, and then its body. If the API server is on the same machine, the
// header wakes it; it takes the processor, and the body is delayed by half a millisecond. On any machine, this costs
// one more system call, packet and wakeup. So Write only queues bytes, and a writer goroutine sends consecutive writes
// as one.
//
// Reads: the API server sends each watch event and each answer separately. A controller that created three hundred pods
// a second was woken two thousand times a second. Each time Go woke a thread to read, another one that looks after
// blocked system calls, and the controller's loop, for very little work. That took a quarter of its CPU time. So while
// more than 4 requests are unanswered, the connection is read at most every 8 ms. With fewer requests, the controller
// is waiting for the server, and each read is immediate.
//
// Invariants:
//   - All bytes that Write accepted are sent in order, or the connection is closed.
//   - If Traffic.May is set, no write(2) begins while May returns false: the connection is reset instead.
//   - At most 64 KiB and one write are queued.
//   - No write waits for a timer: the queue is sent as soon as the writer goroutine runs.
//   - No read waits longer than 8 ms. After a read that filled the buffer, reads are immediate for 100 ms, so that a
//     long list is not delayed.
//
// Concurrency: each connection has one writer goroutine. It ends after Close, or after the first write that fails. As
// with TLS, one goroutine at a time may read. A Traffic is safe for concurrent use.
//
// Read traffic.go first. internal/run/controller uses it for the connections to the API server.
package coalesce
