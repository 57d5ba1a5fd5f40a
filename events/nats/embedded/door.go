package embedded

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// door is where readers come in. The server itself listens nowhere: it counts all connections alike, and who opened
// enough of them from outside, without a secret, kept the publisher out.
type door struct {
	listener net.Listener
	inside   func() (net.Conn, error)
	log      *slog.Logger
	ended    sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]*guest
	shut bool
	came uint64    // connections so far
	told time.Time // when the log was told that there are too many
}

// guest is a connection at the door.
type guest struct {
	number uint64 // in the order in which they came
	in     bool   // the server knows who it is
}

// openDoor listens. Connections go on to inside.
func openDoor(listen string, inside func() (net.Conn, error), log *slog.Logger) (*door, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	d := &door{listener: listener, inside: inside, log: log, open: map[net.Conn]*guest{}}
	d.ended.Go(d.accept) // ends with close
	return d, nil
}

// url is where clients connect to.
func (d *door) url() string { return "nats://" + d.listener.Addr().String() }

func (d *door) accept() {
	for {
		conn, err := d.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // the process has no more files, for a while
			<-time.After(acceptAgain)
		case !d.admit(conn):
			_ = conn.Close()
		default:
			d.ended.Go(func() { d.pass(conn) }) // ends with the connection
		}
	}
}

const (
	acceptAgain = 100 * time.Millisecond
	readWithin  = 10 * time.Second // what is sent to a client
)

// admit reports whether there is room for one more connection. Who has not logged in makes room, the oldest first:
// silent connections lose, and a reader needs a moment to say its name.
func (d *door) admit(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return false
	}
	if len(d.open) >= maxConnections {
		if time.Since(d.told) >= aboutEvery {
			d.told = time.Now()
			d.log.Warn("too many connections to the NATS server: the oldest that have not logged in are closed", "most", maxConnections)
		}
		oldest := d.oldestOutside()
		if oldest == nil {
			return false
		}
		_ = oldest.Close() // ends its pass
		delete(d.open, oldest)
	}
	d.came++
	d.open[conn] = &guest{number: d.came}
	return true
}

// oldestOutside is the connection that has been there longest without having logged in; nil for none.
func (d *door) oldestOutside() (oldest net.Conn) {
	first := uint64(0)
	for conn, g := range d.open {
		if !g.in && (oldest == nil || g.number < first) {
			oldest, first = conn, g.number
		}
	}
	return oldest
}

// loggedIn takes note that the server has let a connection in.
func (d *door) loggedIn(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.open[conn]; g != nil {
		g.in = true
	}
}

// pass passes on what both sides say until one of them ends.
func (d *door) pass(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		d.mu.Lock()
		delete(d.open, conn)
		d.mu.Unlock()
	}()
	server, err := d.inside()
	if err != nil {
		return // the server starts again
	}
	defer func() { _ = server.Close() }() // an error here changes nothing
	d.ended.Go(func() {                   // ends with either
		_, _ = io.Copy(server, conn)
		_ = server.Close()
	})
	_, _ = io.Copy(&impatient{Conn: conn, in: func() { d.loggedIn(conn) }}, server)
}

// impatient is a connection that is closed when its other side does not read. It hears whether the server has let it
// in.
type impatient struct {
	net.Conn
	in     func()
	heard  bool // in was called
	inLine bool // of words that say nothing of that
}

// hear looks for the first words of the server that only those hear who have logged in. Before that the server says who
// it is (INFO), and why somebody does not get in (-ERR).
func (c *impatient) hear(p []byte) {
	for _, b := range p {
		switch {
		case c.inLine:
			c.inLine = b != '\n'
		case b == 'I' || b == '-':
			c.inLine = true
		default:
			c.heard = true
			c.in()
			return
		}
	}
}

// Write is described by io.Writer.
func (c *impatient) Write(p []byte) (int, error) {
	if !c.heard {
		c.hear(p)
	}
	if err := c.SetWriteDeadline(time.Now().Add(readWithin)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// close ends all connections, and returns when they have ended.
func (d *door) close() {
	_ = d.listener.Close()
	d.mu.Lock()
	d.shut = true
	for conn := range d.open {
		_ = conn.Close()
	}
	d.mu.Unlock()
	d.ended.Wait()
}
