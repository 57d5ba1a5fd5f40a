package coalesce

import (
	"net"
	"time"
)

const (
	// room is the size of the read buffer, in bytes.
	room = 64 << 10
	// listing is how long reads are immediate after one that filled the buffer. Such a read means that a list, or other
	// bulk data, is arriving.
	listing = 100 * time.Millisecond
)

// gatherer reads a connection at most once in a period, so that one system call gets all bytes that arrived meanwhile.
type gatherer struct {
	from   net.Conn
	period func() time.Duration // returns the present period; 0 for reads without waiting
	read   time.Time            // when the last read ended
	full   time.Time            // when the last read that filled the buffer ended
	buffer []byte
	rest   []byte // bytes in buffer that Read has not returned yet
}

// Read implements io.Reader. It returns bytes that are left of the last read, or else waits until the period is over,
// and reads the connection.
func (g *gatherer) Read(b []byte) (int, error) {
	if len(g.rest) == 0 {
		g.wait()
		if g.buffer == nil {
			g.buffer = make([]byte, room)
		}
		n, err := g.from.Read(g.buffer)
		g.read, g.rest = time.Now(), g.buffer[:n]
		if n == len(g.buffer) {
			g.full = g.read
		}
		if n == 0 {
			return 0, err
		}
	}
	n := copy(b, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// wait waits until a period has passed since the last read, and bytes that arrive meanwhile do not wake the process.
// For 100 ms after a read that filled the buffer it does not wait, because more bytes are expected.
func (g *gatherer) wait() {
	p := g.period()
	if p == 0 {
		return
	}
	now := time.Now()
	left := g.read.Add(p).Sub(now)
	if left <= 0 || now.Sub(g.full) < listing {
		return
	}
	quiet(g.from, true)
	<-time.After(left)
	quiet(g.from, false)
}
