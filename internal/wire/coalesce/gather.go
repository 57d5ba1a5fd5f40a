package coalesce

import (
	"net"
	"time"
)

const (
	// room is the size of the read buffer.
	room = 64 << 10
	// listing is how long no read waits after one that filled the buffer: then a list or other bulk data is coming.
	listing = 100 * time.Millisecond
)

// gatherer reads a connection at most once per period.
type gatherer struct {
	from   net.Conn
	period func() time.Duration // returns the present time between two reads
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

// wait waits for the end of the period. Bytes that arrive meanwhile do not wake the process.
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
