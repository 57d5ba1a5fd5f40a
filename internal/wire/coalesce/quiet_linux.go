package coalesce

import (
	"net"
	"syscall"
)

// quiet makes the kernel wake nobody for what c receives, until half of the room is full; or for each byte again. One
// that cannot is as before: then the process is woken, and reads nothing.
func quiet(c net.Conn, on bool) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return
	}
	least := 1
	if on {
		least = room / 2
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, least)
	})
}
