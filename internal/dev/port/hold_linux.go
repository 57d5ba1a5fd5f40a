package port

import (
	"fmt"
	"syscall"
)

// Hold reserves a port of 127.0.0.1 until release is called. A server that asks for this port by number can listen on
// it, close, and listen again, since Go's listeners set SO_REUSEADDR. A connection attempt while no server listens is
// refused.
func Hold() (port int, release func() error, err error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, nil, fmt.Errorf("hold a port: %w", err)
	}
	release = func() error { return syscall.Close(fd) }
	if port, err = bind(fd); err != nil {
		_ = release()
		return 0, nil, fmt.Errorf("hold a port: %w", err)
	}
	return port, release, nil
}

// bind reserves a port: it binds the socket without listening. When other sockets ask for any free port, the kernel
// skips this one.
func bind(fd int) (port int, err error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	address, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, err
	}
	return address.(*syscall.SockaddrInet4).Port, nil
}
