package coalesce

import (
	"net"
	"syscall"
)

// quiet sets when received bytes wake the process: if on is true, only when half of the buffer is full, otherwise at
// once. If the system call fails, the process is woken too often, which is harmless.
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
