package coalesce

import (
	"errors"
	"net"
	"syscall"
)

// ErrNotHeld is the error of a write that Traffic.May forbids. The caller must then close the connection.
var ErrNotHeld = errors.New("the connection is closed: nothing may be sent at the moment")

// guarded is a connection that asks right before each write(2) whether the process may still send (may). It does
// nothing between that call and the system call. This is for a process that may be paused at any instruction, and may
// lose its right to send meanwhile. A forbidden write returns ErrNotHeld, and the caller must close the connection.
// Closing resets it, so the kernel drops the bytes that the server has not received. If the process is paused between
// may and the system call, this one write is still sent.
type guarded struct {
	net.Conn
	raw syscall.RawConn // nil if the connection has no file descriptor
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

// SyscallConn implements syscall.Conn: it gives access to the file descriptor.
func (g *guarded) SyscallConn() (syscall.RawConn, error) {
	if g.raw == nil {
		return nil, errors.ErrUnsupported
	}
	return g.raw, nil
}

// Write implements net.Conn. It writes only while may returns true; otherwise it returns ErrNotHeld.
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

// writeRaw writes b in as many system calls as it needs, which are many if the server is slow. It calls may before
// each of them, because the process may have been paused meanwhile, and may then forbid the rest.
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

// forget makes Close reset the connection, so that the kernel drops bytes that are not sent yet.
func (g *guarded) forget() {
	if c, ok := g.Conn.(interface{ SetLinger(sec int) error }); ok {
		_ = c.SetLinger(0)
	}
}
