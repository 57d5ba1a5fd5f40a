package coalesce

import (
	"errors"
	"net"
	"syscall"
)

// ErrNotHeld ends a connection that may send nothing at the moment.
var ErrNotHeld = errors.New("the connection is closed: nothing may be sent at the moment")

// guarded is a connection that asks before each write(2) whether anything may be sent. It is for a process that may be
// stopped at any instruction, and whose right to send ends meanwhile: between the question and the system call it does
// nothing else. What is not allowed fails with ErrNotHeld. The connection is to be closed then, which resets it, so
// that the kernel forgets what the peer has not received. A process that is stopped between the question and the system
// call sends that one write.
type guarded struct {
	net.Conn
	raw syscall.RawConn // nil where the connection is none of the kernel's
	may func() bool
}

func guard(c net.Conn, may func() bool) net.Conn {
	g := &guarded{Conn: c, may: may}
	if s, ok := c.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			g.raw = raw
		}
	}
	return g
}

// SyscallConn is described by syscall.Conn.
func (g *guarded) SyscallConn() (syscall.RawConn, error) {
	if g.raw == nil {
		return nil, errors.ErrUnsupported
	}
	return g.raw, nil
}

// Write is described by net.Conn.
func (g *guarded) Write(b []byte) (n int, err error) {
	if g.raw != nil {
		n, err = g.writeRaw(b)
	} else if g.may() {
		n, err = g.Conn.Write(b)
	} else {
		err = ErrNotHeld
	}
	if errors.Is(err, ErrNotHeld) {
		g.forget()
	}
	return n, err
}

// writeRaw writes as net.Conn does, a system call at a time: a peer that does not read makes it many, and the process
// may be stopped in each wait.
func (g *guarded) writeRaw(b []byte) (n int, err error) {
	waited := g.raw.Write(func(fd uintptr) (done bool) {
		for n < len(b) {
			if !g.may() {
				err = ErrNotHeld
				return true
			}
			m, failed := syscall.Write(int(fd), b[n:])
			switch {
			case failed == nil:
				n += m
			case errors.Is(failed, syscall.EAGAIN):
				return false
			case !errors.Is(failed, syscall.EINTR):
				err = failed
				return true
			}
		}
		return true
	})
	if err == nil {
		err = waited
	}
	return n, err
}

// forget makes a close a reset.
func (g *guarded) forget() {
	if c, ok := g.Conn.(interface{ SetLinger(sec int) error }); ok {
		_ = c.SetLinger(0)
	}
}
