package coalesce

import (
	"net"
	"sync"
	"time"
)

const (
	// most is the largest number of bytes that wait for sending. A Write that would exceed it waits until they are
	// sent.
	most = 64 << 10
	// closing is how long Close waits at most until the waiting bytes are sent.
	closing = time.Second
)

// conn is a connection that needs fewer system calls: it joins writes, and one read gets what several would. Write only
// queues bytes. A writer goroutine sends the whole queue in one write; it usually runs when the caller of Write next
// waits for something.
type conn struct {
	net.Conn

	in gatherer

	mu      sync.Mutex
	changed sync.Cond // signals that a field below it has changed
	waiting []byte
	writing bool  // the writer goroutine is in the middle of sending
	err     error // why Write accepts no more bytes; nil while it does
}

func newConn(c net.Conn, period func() time.Duration) *conn {
	joined := &conn{Conn: c, in: gatherer{from: c, period: period}}
	joined.changed.L = &joined.mu
	go joined.write() // the goroutine ends after Close, or when a write fails
	return joined
}

// Read implements net.Conn: it returns bytes that the server sent (see gatherer).
func (c *conn) Read(b []byte) (int, error) { return c.in.Read(b) }

// Write adds b to the bytes that wait for sending. If sending fails later, the connection is closed, and the next Write
// or Read returns the error.
func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.err == nil && len(c.waiting) > 0 && len(c.waiting)+len(b) > most {
		c.changed.Wait()
	}
	if c.err != nil {
		return 0, c.err
	}
	if len(c.waiting) == 0 {
		c.changed.Broadcast()
	}
	c.waiting = append(c.waiting, b...)
	return len(b), nil
}

func (c *conn) write() {
	var taken []byte
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for c.err == nil && len(c.waiting) == 0 {
			c.changed.Wait()
		}
		if len(c.waiting) == 0 {
			return
		}
		if cap(taken) > most {
			taken = nil
		}
		taken, c.waiting, c.writing = c.waiting, taken[:0], true
		c.mu.Unlock()
		_, err := c.Conn.Write(taken)
		c.mu.Lock()
		c.writing = false
		c.changed.Broadcast()
		if err != nil {
			c.waiting = nil
			if c.err == nil {
				c.err = err // set before the connection is closed, so that the next Write returns this error
			}
			_ = c.Conn.Close() // Close makes a Read that is waiting return
			return
		}
	}
}

// Close sends the waiting bytes, for up to one second, and closes the connection.
func (c *conn) Close() error {
	_ = c.SetWriteDeadline(time.Now().Add(closing))
	c.mu.Lock()
	if c.err == nil {
		c.err = net.ErrClosed
	}
	c.changed.Broadcast()
	for c.writing || len(c.waiting) > 0 {
		c.changed.Wait()
	}
	c.mu.Unlock()
	return c.Conn.Close()
}
