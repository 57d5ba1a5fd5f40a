package embedded

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// door is where readers come in. The server itself listens nowhere: it counts all connections alike, and who opened enough of them from
// outside, without a secret, kept the publisher out.
type door struct {
	listener net.Listener
	inside   func() (net.Conn, error)
	log      *slog.Logger
	ended    sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]struct{}
	shut bool
	told time.Time // when the log was told that there are too many
}

// openDoor listens. Connections go on to inside.
func openDoor(listen string, inside func() (net.Conn, error), log *slog.Logger) (*door, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	d := &door{listener: listener, inside: inside, log: log, open: map[net.Conn]struct{}{}}
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

// admit reports whether there is room for one more connection.
func (d *door) admit(conn net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		return false
	}
	if len(d.open) >= maxConnections {
		if time.Since(d.told) >= aboutEvery {
			d.told = time.Now()
			d.log.Warn("too many connections to the NATS server: more are closed", "most", maxConnections)
		}
		return false
	}
	d.open[conn] = struct{}{}
	return true
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
	_, _ = io.Copy(impatient{conn}, server)
}

// impatient is a connection that is closed when its other side does not read.
type impatient struct{ net.Conn }

// Write is described by io.Writer.
func (c impatient) Write(p []byte) (int, error) {
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
