package coalesce

import (
	"net"
	"time"
)

const (
	// room is the size of the read buffer in bytes.
	room = 64 << 10
	// listing is how long reads are immediate after one that filled the buffer: a list or other bulk data is arriving.
	listing = 100 * time.Millisecond
)

// gatherer reads a connection at most once in a period, so that one read returns what arrived in it.
type gatherer struct {
	from   net.Conn
	period func() time.Duration // returns the current period; 0 for immediate reads
	read   time.Time            // end of the newest read
	full   time.Time            // end of the newest read that filled the buffer
	buffer []byte
	rest   []byte // part of the buffer that Read has not returned yet
}

// Read implements io.Reader.
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

// wait waits until the period since the last read is over. Bytes that arrive in that time do not wake the process.
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
