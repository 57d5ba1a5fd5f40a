package coalesce

import (
	"net"
	"sync"
	"time"
)

const (
	// most is how many bytes wait at most. Who writes more waits until they are written.
	most = 64 << 10
	// closing is how long Close waits until what waits is written.
	closing = time.Second
)

// conn is a connection whose reads are gathered, and whose Write only notes what is to be written. The writer has its
// turn when the one who wrote waits for something, as a rule; then it writes all that waits.
type conn struct {
	net.Conn

	in gatherer

	mu      sync.Mutex
	changed sync.Cond // of what follows
	waiting []byte
	writing bool  // the writer has taken some
	err     error // why nothing more is taken
}

func newConn(c net.Conn, period func() time.Duration) *conn {
	joined := &conn{Conn: c, in: gatherer{from: c, period: period}}
	joined.changed.L = &joined.mu
	go joined.write() // ends with Close, or with the first write that fails
	return joined
}

// Read is described by net.Conn.
func (c *conn) Read(b []byte) (int, error) { return c.in.Read(b) }

// Write takes b. That it could not be written is told by a later Write, and by a Read: the connection is closed then.
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
				c.err = err // before the peer can know of it: a later Write says the same
			}
			_ = c.Conn.Close() // its Reads end
			return
		}
	}
}

// Close writes what waits, and closes the connection.
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
