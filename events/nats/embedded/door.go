package embedded

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// door accepts connections of clients outside this process, and forwards them to the server. The server itself does not
// listen: it has one limit for all connections, so many clients without a secret would keep out the publisher of this
// process.
type door struct {
	listener net.Listener
	inside   func() (net.Conn, error)
	log      *slog.Logger
	ended    sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]*guest
	shut bool
	came uint64    // number of connections so far
	told time.Time // when the log last reported too many connections
}

// guest is an open connection of a client outside this process.
type guest struct {
	number uint64 // in order of arrival
	in     bool   // it has authenticated
}

// openDoor listens on the address, and forwards each connection to the server through a connection from inside.
func openDoor(listen string, inside func() (net.Conn, error), log *slog.Logger) (*door, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	d := &door{listener: listener, inside: inside, log: log, open: map[net.Conn]*guest{}}
	d.ended.Go(d.accept) // ends with close
	return d, nil
}

// url returns the URL at which clients outside this process connect.
func (d *door) url() string { return "nats://" + d.listener.Addr().String() }

func (d *door) accept() {
	for {
		conn, err := d.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // for example, the process has no file descriptor left: try again later
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
	readWithin  = 10 * time.Second // limit for a client to read what is sent to it
)

// admit reports whether the connection is accepted. If there are too many, it closes the oldest one that has not
// authenticated: idle connections lose, and a reader authenticates within a moment.
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
		_ = oldest.Close() // this also ends the goroutine that copies its data
		delete(d.open, oldest)
	}
	d.came++
	d.open[conn] = &guest{number: d.came}
	return true
}

// oldestOutside returns the oldest connection that has not authenticated; nil for none.
func (d *door) oldestOutside() (oldest net.Conn) {
	first := uint64(0)
	for conn, g := range d.open {
		if !g.in && (oldest == nil || g.number < first) {
			oldest, first = conn, g.number
		}
	}
	return oldest
}

// loggedIn marks a connection as authenticated.
func (d *door) loggedIn(conn net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if g := d.open[conn]; g != nil {
		g.in = true
	}
}

// pass copies data between the client conn and the server, in both directions, until one side ends.
func (d *door) pass(conn net.Conn) {
	defer func() {
		_ = conn.Close()
		d.mu.Lock()
		delete(d.open, conn)
		d.mu.Unlock()
	}()
	server, err := d.inside()
	if err != nil {
		return // the server is restarting
	}
	defer func() { _ = server.Close() }() // an error here changes nothing
	d.ended.Go(func() {                   // ends with either side
		_, _ = io.Copy(server, conn)
		_ = server.Close()
	})
	_, _ = io.Copy(&impatient{Conn: conn, in: func() { d.loggedIn(conn) }}, server)
}

// impatient is a connection that is closed when its client does not read for readWithin. It calls the function in once
// the client has authenticated.
type impatient struct {
	net.Conn
	in     func()
	heard  bool // in was called
	inLine bool // inside a line of INFO or -ERR
}

// hear looks in the server's output p for the first line that only authenticated clients get. Before that, the server
// only sends INFO and -ERR.
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

// Write implements io.Writer: it sends p to the client, and fails if the client does not read it within readWithin.
func (c *impatient) Write(p []byte) (int, error) {
	if !c.heard {
		c.hear(p)
	}
	if err := c.SetWriteDeadline(time.Now().Add(readWithin)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// close closes all connections, and waits until they have ended.
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
