package coalesce

import (
	"net"
	"time"
)

const (
	// room is how much is read at once.
	room = 64 << 10
	// listing is how long no read waits after one that filled the buffer: a list comes, or more than may be held up.
	listing = 100 * time.Millisecond
)

// gatherer reads a connection, at most once in a period.
type gatherer struct {
	from   net.Conn
	period func() time.Duration // between two reads, now
	read   time.Time            // when the newest read ended
	full   time.Time            // and the newest that filled the buffer
	buffer []byte
	rest   []byte // of the buffer, what nobody took yet
}

// Read is described by io.Reader.
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

// wait waits for the end of the period. What comes meanwhile wakes nothing.
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
